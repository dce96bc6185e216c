"""The tables of models with perturbed order."""

from collections.abc import Iterable, Mapping

from django import template

from benchmarks.models import Job
from benchmarks.scoring import order_tasks, retrieval

register = template.Library()


@register.inclusion_tag("scoring/_recalls.html")
def recalls(report: Mapping, label: str) -> dict:
    """`label`: the id of the element that names the table."""
    columns = [name for name, _ in retrieval.COLUMNS]
    return {"report": report, "rows": retrieval.table_of(report), "columns": columns, "label": label}


@register.inclusion_tag("scoring/_orders.html")
def orders(jobs: Job | Iterable[Job], label: str) -> dict:
    """The order tasks of the models of these jobs, or of one. `label`: as above."""
    reports = [job.report for job in ([jobs] if isinstance(jobs, Job) else jobs)]
    heads, rows = order_tasks.table_of(reports)
    return {"reports": reports, "heads": heads, "rows": rows, "chance": [f"{order_tasks.CHANCE:.3f}"] * len(heads[1:]),
            "label": label}  # fmt: skip
