"""File formats of benchmarks: each reads files into `records.ItemRecord`s, and most write them back.

Pure: imports records and `workers` only; any room above may import it. Start with `base.py` (what a format is) and
`registry.py` (the list of formats); `checks.py` checks every record.
"""
