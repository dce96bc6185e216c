"""Errors that readers of releases report, at an address that a release names, and what a manager does about them.

`address.py` says where; `reports.py` has the verbs; `views.py` the reader's page and the managers'. The dashboard shows
how many are open beside the flags.
"""
