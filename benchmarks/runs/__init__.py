"""Runs of models on a benchmark: predictions that were imported, figures that a paper reported, scores that were
measured here, and the figures computed of them. Imports, scoring, caption_only and `annotation` may import it. Start
with `figures.py`.
"""
