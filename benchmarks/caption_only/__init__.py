"""A test whether a benchmark can be answered from its captions only: the accuracy of models without images, warnings on
pages, and a list of items to leave out. It reads runs and scores; views, the API and `annotation` may import it. Start
with `shares.py`.
"""
