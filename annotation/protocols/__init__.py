"""Protocols: the questions that a study can ask about an item, and the rule that decides from the answers.

A file says what is shown, asked, decided and measured (`schema`; `library/` has those that come with Winnow); only the
two of VISLA are code. Start with `base` (what a protocol is), then `registry` (all of them by name), `compile` (a file
as a protocol) and `decision_rule`.

Pure: no database, no Django. Every room above may import it; it imports only `annotation.wording` and the benchmark
records.
"""
