"""Training a model on a benchmark, or on a release's training side: presets of the papers, one stored model.

The model's libraries are loaded by `workers.models` only. Tasks, views and commands import it. Start with `train.py`.
"""
