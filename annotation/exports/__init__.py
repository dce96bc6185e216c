"""Exports: everything about a study's items, tasks, judgments and statistics, written to one folder.

`export` writes the folder in one snapshot of the database; `job` stores it, or a release made from it, as a .zip, which
`downloads` sends. `columns` (pure) defines each column, and `columns_page` makes docs/reference/columns.md from it.
`items` has each item's outcome, `item_table` the kept ones with their images, whose columns `item_parts` (pure) lists,
`rows` and `texts` the lines of the other tables, `readme` its words, which `markdown` escapes; `files` writes the
files, `atomic_folder` makes them appear all at once. Releases are built from exports; rooms above figures may import
this room. Start reading at `export`.
"""
