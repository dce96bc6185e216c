"""Users' own files: any table, with a mapping from its columns to the parts of an item.

`rows` reads any table, or a dataset in a folder or archive, into rows by column; `mapping` makes items from rows;
`guess` proposes a mapping from the first rows; `format` is the format that the import uses. `ratings` reads people's
answers; `answer_columns` has the code shared with models' answers (benchmarks/predictions/columns.py).
"""
