"""Verify a release from only its files: files against the manifest, tables against each other, figures and outcomes
against the measures and decision rules (annotation/measures, annotation/protocols) run again.

No Django, no database and no second implementation here (that is tests/independent). Start reading in `verifying.py`,
which lists the checks; each takes a `Place` (the folder) and adds its findings to a `Report`.
"""
