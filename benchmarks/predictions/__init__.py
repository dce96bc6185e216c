"""Predictions of models: reading files, matching answers with items, and computing the measures of each kind of
evaluation. Pure. Start with `kinds.py` (the questions) and `evaluating.py` (the measures).
"""
