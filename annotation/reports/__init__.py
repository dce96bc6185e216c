"""The report of a study, the appendix of a paper: as a page, as a file and as JSON.

Only `urls`, tasks and a management command import this room. Start reading in `report.py`, which combines what
other rooms compute; `page.py` makes tables of it.
"""
