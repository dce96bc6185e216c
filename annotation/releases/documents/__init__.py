"""The documents of a release: dataset card, data statement, Croissant description and statistics.

Pure: they are made from the release's other files, its plan and its manifest. `releases.build` writes them, and
verification makes them again; nothing else imports this room. Start reading at `write`; the words of the card and the
data statement are in `templates/`, the numbers they cite in `facts`.
"""
