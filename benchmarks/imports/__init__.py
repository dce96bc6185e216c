"""The import of a benchmark, all or nothing: read and check rows, stage images, store everything in one transaction.

Views, tasks, commands and `annotation` may import it. Start with `run.py`.
"""
