"""Whether a benchmark can be answered from its captions alone: the share of items that a model without images gets
right, as a warning on pages and as a list of items to leave out. Reads runs and figures; views, the API and
`annotation` may import it. Start with `shares.py`.
"""
