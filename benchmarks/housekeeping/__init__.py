"""Backup, restore, renaming and deletion, with files that follow a database change even after a crash.

Only the housekeeping tasks, the commands and `annotation` import it. Start with `backup.py`; `deferred_files.py`
explains the order of files and rows.
"""
