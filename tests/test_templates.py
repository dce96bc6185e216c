"""What the formatters of `make lint` do not hold for templates."""

from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
WIDTH = 120


def test_no_line_of_a_template_is_longer_than_120_columns():
    long = [
        f"{path.relative_to(TEMPLATES)}:{number}"
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > WIDTH
    ]
    assert long == []
