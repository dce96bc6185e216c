"""Protocol files in the app: published versions, drafts, and the form and editor for writing them.

Start with `publish`. The meaning of a file is in `annotation.protocols`.
"""
