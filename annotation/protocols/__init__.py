"""Protocols: the questions a study can ask about an item, and the rule that decides from the answers.

A file defines what is shown, asked, decided and measured (`schema`; `library/` has the files that come with Winnow);
only VISLA's two protocols are code. Start with `base` (what a protocol is), then `registry` (all of them by name),
`compile` (turns a file into a protocol) and `decision_rule`.

Pure: no database, no Django. Every room above it may import this room; it imports only `annotation.wording` and the
benchmark records.
"""
