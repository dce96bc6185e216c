"""A release verified from its files alone: files against the manifest, tables against each other, figures and outcomes
against the measures and decision rules (annotation/measures, annotation/protocols) run again.

No Django, no database and no second implementation here (that is tests/independent). Start reading in `verifying.py`,
which names the checks; each takes a `Place` (the folder) and adds what it finds to a `Report`.
"""
