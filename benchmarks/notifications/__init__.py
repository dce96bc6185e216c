"""Messages by e-mail to managers, of the kinds that each has chosen. Off unless a mail server is set.

`kinds` is the registry: a kind is a function that finds what there is to tell a user. `send` tells each thing once,
from the worker; `subscriptions` stores a user's choice. `jobs` is the kind for jobs that have ended; annotation adds
its own (annotation/notifications). Accounts, tasks and annotation may import it.
"""
