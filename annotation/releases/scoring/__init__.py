"""Scoring a released split anywhere: `score.py` and a task for lmms-eval, which a release brings.

`score.py` and `utils.py` are copied into releases as they are. They import nothing of Winnow, only the standard library
and numpy, and read how to evaluate from the release's manifest, where `evaluation.py` describes it. Start there.
"""
