"""Protocol files in the app: published versions of them, and drafts.

Start with `publish`. What a file means is in `annotation.protocols`.
"""
