"""Measures: statistics computed from rows of judgments, without a database.

Pure; `figures` and the rooms above it supply the rows. Nothing that runs at every click may import it. Start with
`counts` (the rows, and a stage's statistics) and `agreement`; docs/reference/measures.md has every formula with its
source.
"""
