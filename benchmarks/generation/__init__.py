"""Material that models make from a benchmark's items, before people judge it. Each result is a benchmark of its own or
another round of candidates, with its provenance in each item. Start with `captions.py`."""
