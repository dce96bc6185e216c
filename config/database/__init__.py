"""The database engine: Django's for PostgreSQL, with a deadline for name resolution."""
