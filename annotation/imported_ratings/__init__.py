"""Turn judgments made elsewhere into a study: a file of ratings of a benchmark's items, under a protocol file.

Start in study.py (`RatingsImport`): it reads the file, creates the study and stores annotators, judgments and outcomes,
all or nothing. matching.py turns ratings into the judgments of tasks; order.py has the options; views.py has the page.
The API, the commands and the rooms above it may import this room.
"""
