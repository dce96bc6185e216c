"""The papers' measures, from scores or answers to shares with 95% intervals.

Pure: numpy only, and the lowest room except records; anything may import it. Start with `base.py`, then the module
named after the paper.
"""
