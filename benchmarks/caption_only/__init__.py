"""Whether a benchmark can be answered from its captions alone: the accuracy of models without images, warnings on
pages, and a list of items to leave out. Reads runs and figures; views, the API and `annotation` may import it. Start
with `shares.py`.
"""
