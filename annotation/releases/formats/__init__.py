"""The forms of a release: each module lays the kept items out as files in one way.

Pure: a form gets rows (`releases.export_reader.Row`) and writes below its own folder. `releases.build` runs those that
a plan names. Start reading at `base`, which says what a form is; a new one is a module here and a line in `registry`.
"""
