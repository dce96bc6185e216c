"""Accounts, login, and tokens for the API. `urls`, the API's settings and management commands import this room.

Start with `views.py` (logging in) and `tokens.py`.
"""
