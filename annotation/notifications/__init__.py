"""E-mails to studies' managers (sent by benchmarks/notifications): `stages`, when a stage is done, and `digest`, what
is waiting for a manager, daily. No message names an annotator. `tasks` imports this room.
"""
