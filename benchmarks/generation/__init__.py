"""Material that models generate from a benchmark's items, before people judge it. Each result is a new benchmark or
another round of candidates, with its provenance in each item. Start with `captions.py`."""
