"""What annotators are called where nobody may be named: A-01, A-02 … in order of joining. Pure."""


def pseudonym(number: int) -> str:
    return f"A-{number:02d}"
