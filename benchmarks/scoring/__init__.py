"""Scoring a benchmark with a model: encode what is new, compare, store one run.

The model's libraries are loaded by `workers.models` only. Tasks, views and commands import it. Start with `score.py`.
"""
