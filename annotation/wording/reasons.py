"""What people type as a reason, as it is stored. Pure."""

REASON_LENGTH = 500  # characters


def as_reason(typed: str) -> str:
    """Without NUL, which PostgreSQL's text cannot hold, without space around it, and not longer than its column."""
    return typed.replace("\0", "").strip()[:REASON_LENGTH]
