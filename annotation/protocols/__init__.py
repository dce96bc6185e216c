"""Protocols: the questions that a study can ask about an item, and the rule that decides from the answers.

Files say them (`library/`); only the two of VISLA are code.

Pure: no database, no Django. Every room above may import it; it imports only `annotation.wording` and the benchmark
records. Start with `base` (what a protocol is), then `registry` (all of them by name) and `decision_rule`.
"""
