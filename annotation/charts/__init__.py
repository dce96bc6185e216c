"""Charts: the caption, table and description of each figure, and the positions of bars that pages draw themselves.

Pure; the page rooms import it. Start with `study`, which has `Plot`.
"""
