"""Map a ratings file's columns to their meanings, and the protocol's roles to the benchmark's."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import QueryDict

from annotation.designs import fit, presets
from annotation.imported_ratings.order import KIND, RatingsOrder, asked
from annotation.protocols.ratings import own_values, rated
from annotation.protocols.roles import CannotMap
from annotation.protocols.schema import ProtocolFile
from annotation.studies.setup_forms import OF_ROLE, field_of_role
from benchmarks import queries
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own import ratings
from benchmarks.formats.own.ratings import ALL, RatingsMapping
from benchmarks.jobs import columns
from benchmarks.jobs.orders import options_of
from benchmarks.models import Benchmark, Job

_WHATS = {
    "": "further information", "item": "id of the item", "annotator": "annotator", "question": "name of the task",
    "attributes": "attribute of the item",
}  # fmt: skip


@columns.page_of(KIND, *options_of(RatingsOrder))
def page(job: Job, sent: QueryDict | None) -> columns.Page:
    mapped, problem = role_fields(job, job.params["roles"] if sent is None else roles_in(sent))
    roles = ",".join(f"{one['role']}={one['value']}" for one in mapped) or job.params["roles"]
    try:
        file = asked(job.params["protocol"], roles)
    except CannotMap as refusal:
        file, problem = asked(job.params["protocol"], ""), str(refusal)
    known = {f"answers.{one.name}": tuple(values) for one in file.answers if (values := own_values(file, one))}
    whats = _WHATS | {f"answers.{one.name}": f"answer: {one.name}" for one in file.answers}
    whats |= {f"{what}={value}": f"who answered {value}" for what, values in known.items() for value in values[:9]}
    found, mapping = columns.answers_page(job, sent, RatingsMapping, whats, known)
    found.mapped = mapped
    found.problems += [problem] if problem else []
    if mapping:
        log = ProblemLog(job.params["skip_incomplete"])
        columns.show_first(found, job, _said(job, file, mapping, log), log)
    return found


def roles_in(sent: Mapping[str, Any]) -> str:
    """Return a form's mapping of roles to the benchmark's names, as in an order."""
    return ",".join(f"{name.removeprefix(OF_ROLE)}={to}" for name, to in sent.items() if name.startswith(OF_ROLE))


def _said(job: Job, file: ProtocolFile, mapping: RatingsMapping, log: ProblemLog) -> Iterator[tuple[str, str, str]]:
    given = ratings.given(columns.rows_of(job), mapping, log)
    for one in rated(given, mapping, file, log, ALL, has_items=True).rows:
        yield one.item, one.annotator, one.label


def role_fields(job: Job, given: str) -> tuple[list[dict[str, Any]], str]:
    """Return a select for each role of the protocol that needs the benchmark's name, and why the benchmark does not
    suit it with the current names; "" if it does."""
    first = queries.with_material(Benchmark.objects.get(pk=job.params["benchmark"]).items.order_by("position")).first()
    if first is None:
        return [], ""
    item = queries.record_of(first)
    stages = presets.single_stage(job.params["protocol"]).stages
    try:
        stages = tuple(presets.with_roles_of_benchmark(stages, given)) if given else stages
    except CannotMap as refusal:
        return [], str(refusal)
    choices = fit.role_choices(stages[0], stages, item)
    reason = presets.unsuited(fit.fitted(stages, item) or stages, item)
    fields = [(one, field_of_role(one)) for one in choices]
    return [
        {"role": one.role, "value": one.name, "label": field.label, "options": field.choices} for one, field in fields
    ], str(reason) if reason else ""
