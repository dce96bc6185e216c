"""Simulated annotators who work in a running Winnow through its own pages: for demos, load tests and tests.

Start in crowd.py; browser.py reads pages as forms. Only commands and tests import it.
"""
