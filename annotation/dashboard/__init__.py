"""The managers' pages for a study: its statistics, agreement, annotators, human baseline and blocked items.

Only reports, the API and `urls` import this room. Start reading in `views.py`; each `*_page.py` turns statistics into a
template's context.
"""
