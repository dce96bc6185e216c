"""The engine of the database: Django's for PostgreSQL, with a deadline for names."""
