"""The demo benchmark: made-up scenes with captions, hard negatives and candidate pictures, drawn with Pillow.

Pure: no Django, and the same seed gives the same items and the same bytes. Only the command that creates the demo
study imports it (and the tests). It imports `benchmarks.records` and nothing else of the project.

Start with `items.demo_benchmark`. It takes what captions claim from `claims`, places things so that a claim holds with
`scenes`, and draws them with `painting` from the tables in `shapes`.
"""
