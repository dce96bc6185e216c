"""Every figure of a study, read from the database and computed by the pure functions of annotation/measures.

Start in stage.py (all figures of one stage) and funnel.py (what became of every item). cache.py stores slow figures and
tells whether they are current; nothing else here writes. Participants and the rooms above may import
it.
"""
