"""Annotators judge on a real installation while its parts are killed, its network breaks, its neighbours hang, its disk
fills and its clock steps; then check for every acknowledged answer in the database and in an export.
`make nemesis` runs it.

Start in attack.py. annotators.py has the browser's outbox in Python, proxy.py the network between it and the web
server, neighbours.py the object storage and the name server, faults.py what goes wrong, manager.py the study and its
jobs, account.py the comparison.
"""
