"""Protocols as data: a file says what is shown and asked, what the answers decide, and how they are measured. Pure."""
