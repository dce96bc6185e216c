"""The managers' pages of a study: its figures, agreement, annotators, human baseline and blocked items.

Only reports, the API and `urls` import this room. Start reading in `views.py`; each `*_page.py` turns figures into what
a template shows.
"""
