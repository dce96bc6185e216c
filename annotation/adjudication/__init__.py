"""Decisions by an adjudicator: the list of disagreements, the page of one item, and the decisions themselves.

Start in decisions.py (decide, send back, withdraw). cases.py collects what an adjudicator sees of a task,
desk.py the queue beside it, answers_shown.py the annotators' answers as rows; disagreement_list.py finds and sorts the
tasks. Exports, dashboards and the rooms above them may import it.
"""
