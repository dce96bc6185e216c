"""The actions of an annotator with a link: join, consent, read the rules, answer, undo, skip, flag and leave.

Start in views.py (Enter sends `submit`) and submissions.py (what is stored, in which transaction). next_step.py decides
what the annotator sees next. Opening the link writes, although it is a GET, since it leases the screens that it shows
(next_step.py explains why). Adjudication, exports and the rooms above them may import it.
"""
