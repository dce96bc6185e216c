"""Score a released split anywhere: `score.py` and a task for lmms-eval, which come with a release.

`score.py`, `utils.py` and the modules in `released/` are copied into releases, together with the modules of
`benchmarks/metrics/` and `benchmarks/predictions/` that they compute with. There they import only
the standard library and numpy. `questions.py` makes the questions with options that a study asked; `evaluation.py`
lists and writes the files. Start there.
"""
