"""The tables for models with perturbed order."""

from collections.abc import Iterable, Mapping

from django import template

from benchmarks.models import Job
from benchmarks.scoring import order_tasks, retrieval
from benchmarks.tables import Column, Table, bdi, number

register = template.Library()


@register.inclusion_tag("scoring/_recalls.html")
def recalls(report: Mapping, label: str) -> dict:
    """Return the recalls; `label`: the id of the element that names the table."""
    shuffled = {"text": "captions: ", "image": "images: "}
    columns = [
        Column("shuffled", html=lambda row: shuffled.get(row["of"], "") + (row["name"] or "nothing")),
        *(number(name, f"cells.{place}") for place, (name, _) in enumerate(retrieval.COLUMNS)),
    ]
    return {"report": report, "table": Table("", columns, retrieval.table_of(report), label=label)}


@register.inclusion_tag("scoring/_orders.html")
def orders(jobs: Job | Iterable[Job], label: str) -> dict:
    """Return the results of order tasks in these jobs, or in one. `label`: as above."""
    reports = [job.report for job in ([jobs] if isinstance(jobs, Job) else jobs)]
    heads, rows = order_tasks.table_of(reports)
    columns = [Column("model", "0", bdi), *(number(head, f"1.{place}") for place, head in enumerate(heads))]
    chance = ["Chance", "", *[f"{order_tasks.CHANCE:.3f}"] * len(heads[1:])]
    return {"reports": reports, "table": Table("", columns, rows, foot=[chance], label=label)}
