"""Measure how often 95% intervals contain the truth, in made-up studies whose truth is known.

`python -m bench.coverage` prints a Markdown table for each part, `python -m bench.coverage baseline` only for one. With
1,000 studies per cell, a coverage of 95% is known to ± 1.4 points; `--studies` sets another number. Every cell
draws from the same seed each time. A part is a module with `HEADS` and `rows(studies)`, whose cells call the functions
that the pages call.
"""
