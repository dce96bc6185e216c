"""A benchmark's items written back in the layout of the files they were imported from.

May be imported by runs and all rooms above, and by `annotation`. Start with `source_layout.py`.
"""
