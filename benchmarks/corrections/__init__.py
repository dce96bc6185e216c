"""Corrections of stored items: other words, another picture, withdrawn, put back; each with its reason, kept for good.

`correct.py` is the verb, `reading.py` reads a file of corrections, `work.py` runs one as a job. Rooms above register
what must follow in the same transaction (`followers.py`): studies ask the item again. Start with `correct.correct`.
"""
