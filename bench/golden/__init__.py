"""The golden run: everything that Winnow shows and writes, recorded from outside. README.md says what and how.

Start reading in run.py. Nothing here may import a module of the product other than `config.services`.
"""
