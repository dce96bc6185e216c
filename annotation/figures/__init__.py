"""A study's statistics, read from the database and computed by the pure functions of annotation/measures.

Start in stage.py (all statistics of one stage) and funnel.py (the fate of every item). cache.py stores slow results and
knows whether they are current; nothing else in this room writes. Participants and the rooms above it may import this
room.
"""
