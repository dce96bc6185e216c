"""E-mail messages to managers, of the kinds that each has chosen. Off unless a mail server is set.

`kinds` is the registry: a kind is a function that finds news for a user. `send` sends each message once, from the
worker; `subscriptions` stores a user's choice. `jobs` is the kind for jobs that have ended; annotation adds its own
(annotation/notifications). Accounts, tasks and annotation may import it.
"""
