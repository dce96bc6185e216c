"""The second implementation of every figure: pandas, scipy and plain sums over the files of an export or a release.

Nothing here imports what the application computes with; tests hold the application's figures against it to 1e-9. Start
with `recomputed.py`, which also runs as a command: `python -m tests.independent.recomputed FOLDER`.
"""
