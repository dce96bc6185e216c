"""Corrections of stored items: changed texts or images, withdrawals and restorations, each kept with its reason.

`correct.py` is the verb, `reading.py` reads a file of corrections, `work.py` runs one as a job. Rooms above register
what must follow in the same transaction (`followers.py`), such as asking again. Start with `correct.correct`.
"""
