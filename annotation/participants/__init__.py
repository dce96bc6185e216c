"""The people behind annotators: leaving, exclusion and reinstatement, Prolific submissions, erasure.

Start in lifecycle.py (the verbs) and roster.py (the table for managers). Judging and the rooms above it may import this
room.
"""
