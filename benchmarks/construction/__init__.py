"""Constructing items from rows by the rules of the papers (ARO, SugarCrepe, The Hard Positive Truth, VISLA).

Pure: imports formats, metrics and records only; the command `construct` uses it. Start with `kinds.py`, which has a
function for each rule set.
"""
