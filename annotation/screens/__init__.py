"""Screens: what an annotator sees for a lease, and how its submitted fields become an answer. `judging`, `checks` and

the rooms above them import it. Start with `screens.build_screens`, then `read_answer.parse_answer`.
"""
