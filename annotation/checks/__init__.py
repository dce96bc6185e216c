"""Items with a known answer: attention checks among the screens, and qualification before the first one.

Start in gold_items.py, which turns items into checks or practice and back. attention_checks.py decides when a check is
due and counts the results; qualification.py runs the comprehension questions and the practice. setup.py and parsing.py
serve the manager's pages (dashboard/checks_views.py). Assignment and the rooms above it may import it.
"""
