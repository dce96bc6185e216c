"""Protocol files in the app: published versions of them, drafts, and the form and the editor that write them.

Start with `publish`. What a file means is in `annotation.protocols`.
"""
