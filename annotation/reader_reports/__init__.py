"""Errors that readers of releases report, at an address named in a release, and what managers do about them.

`address.py` has the address; `reports.py` the functions; `views.py` the reader's page and the managers'. The dashboard
shows the number of open reports beside the flags.
"""
