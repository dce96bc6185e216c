"""The import of a benchmark, all or nothing: read, check, stage the images, store everything in one transaction.

Views, tasks, commands and `annotation` may import it. Start with `run.py`.
"""
