"""The forms of a release: each module writes the kept items as files in one layout.

Pure: a form gets rows (`releases.export_reader.Row`) and writes below its own folder. `releases.build` runs those that
a plan names. Start reading at `base`, which defines a form; a new one is a module here and a line in `registry`.
"""
