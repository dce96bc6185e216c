"""Files of one's own: any table, with a mapping that says which part of an item stands in which column.

`rows` reads any table, or a dataset in a folder or archive, into rows by column; `mapping` makes items of rows; `guess`
proposes a mapping from the first rows; `format` is the format that the import uses. `ratings` reads people's answers;
`answer_columns` has what they share with models' answers (benchmarks/predictions/columns.py).
"""
