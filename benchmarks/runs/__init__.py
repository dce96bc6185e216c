"""Models' runs on a benchmark: imported predictions, results reported in papers, locally computed scores, and the
resulting statistics. Imports, scoring, caption_only and `annotation` may import it. Start with `figures.py`.
"""
