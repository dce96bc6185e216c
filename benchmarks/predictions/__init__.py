"""What models answered: reading files of predictions, matching them with items, computing the measures of each kind of
evaluation. Pure. Start with `kinds.py` (what may be asked) and `evaluating.py` (what follows).
"""
