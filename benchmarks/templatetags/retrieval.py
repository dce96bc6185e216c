"""The table of a model's retrieval with perturbed order."""

from collections.abc import Mapping

from django import template

from benchmarks.scoring import retrieval

register = template.Library()


@register.inclusion_tag("scoring/_recalls.html")
def recalls(report: Mapping, label: str) -> dict:
    """`label`: the id of the element that names the table."""
    columns = [name for name, _ in retrieval.COLUMNS]
    return {"report": report, "rows": retrieval.table_of(report), "columns": columns, "label": label}
