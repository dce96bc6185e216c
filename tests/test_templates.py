"""What the formatters of `make lint` do not hold for templates."""

import re
from collections import Counter
from pathlib import Path

from django.template import engines

from annotation.templatetags import figures

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


METHODS = re.compile(
    r"agresti|bayes|binomial|bonett|bootstrap|clopper|fisher|holm\b|jackknife|mann–whitney|mcnemar|newcombe|permutation"
    r"|poisson|resampling|student.s|wilson|cohen|fleiss|krippendorff|gwet|kendall|τ-b|κ|α",
    re.IGNORECASE,
)


def test_templates_name_no_method_and_no_measure_of_agreement():
    """Its name stands where it is computed, and `{% method %}` or the measure's entry has it from there: the study page
    once said “bootstrap” over intervals of the jackknife.
    """
    named = [
        f"{path.relative_to(TEMPLATES)}:{number}: {line.strip()}"
        for path in sorted(TEMPLATES.rglob("*.html"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if METHODS.search(line)
    ]
    assert named == []


def test_the_head_of_a_table_marks_columns_of_numbers():
    cells = '<th scope="col">type</th><th scope="col" class="number">n &lt; 3</th>'
    assert figures.heads("type", "#n < 3") == f"<thead><tr>{cells}</tr></thead>"


def test_no_two_libraries_of_templates_have_the_same_name():
    """All are built in, so that the later of two would silently stand for both."""
    libraries = engines["django"].engine.template_builtins
    names = Counter(name for library in libraries for name in (*library.tags, *library.filters))
    assert [name for name, count in names.items() if count > 1] == []
