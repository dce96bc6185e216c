"""Compare models with people: a benchmark's table of both, and the tasks on which they disagree.

The dashboard and `urls` import this room. Start reading in `page.py` (a benchmark) and `items.py` (a stage).
`table.py`, `latex.py`, `charts.py`, `question_map.py` and `disagreements_with_models.py` are pure.
"""
