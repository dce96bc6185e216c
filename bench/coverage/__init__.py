"""How often 95 % intervals hold the truth, in made-up studies whose truth is known.

`python -m bench.coverage` prints a Markdown table of each part, `python -m bench.coverage baseline` that of one. 1,000
studies a cell determine a coverage of 95 % to ± 1.4 points; `--studies` is for others. Every cell has its own dice,
with the same seed each time. A part is a module with `HEADS` and `rows(studies)`, whose cells call the functions that
the pages call.
"""
