"""What an import of ratings is asked to do: whose ratings of which benchmark, under which protocol."""

from dataclasses import asdict, dataclass
from pathlib import Path

from django import forms

from annotation.models import RatingsFile, Study
from annotation.protocols import library
from annotation.protocols.registry import is_known
from benchmarks.formats.own.ratings import ALL, FIRST, LAST, REFUSE, read_mapping
from benchmarks.jobs import jobs, orders
from benchmarks.models import Benchmark, Job
from benchmarks.runs.import_predictions import OneLineField

KIND = "ratings"
REPEATED = {
    REFUSE: "Refuse the file", FIRST: "Keep the first", LAST: "Keep the last", ALL: "Keep each as another annotator’s",
}  # fmt: skip


class ProtocolField(forms.CharField):
    """A protocol file: one of the library by its name, or a published one as NAME@VERSION."""

    def clean(self, value: object) -> str:
        name = str(super().clean(value))
        if name not in library.names() and not ("@" in name and is_known(name)):
            known = ", ".join(library.names())
            raise forms.ValidationError(f"There is no such protocol file. The library has: {known}.")
        return name


@dataclass(frozen=True)
class RatingsOrder:
    name: str = orders.described(
        OneLineField(max_length=Study._meta.get_field("name").max_length, label="Name of the new study")
    )
    protocol: str = orders.described(
        ProtocolField(
            max_length=40, label="Protocol file",
            help_text="What was asked: a protocol of the library, or a published one as `NAME@VERSION`.",
        )
    )  # fmt: skip
    source: str = orders.described(
        OneLineField(
            max_length=RatingsFile._meta.get_field("source").max_length, label="Source",
            help_text="Where the ratings come from: a repository with its version, or a paper. Releases name it.",
        )
    )  # fmt: skip
    mapping: str = orders.mapping(
        read_mapping, 8, "Which column is what, as JSON. Without one, columns are recognised by their names."
    )
    repeated: str = orders.described(
        forms.ChoiceField(
            choices=list(REPEATED.items()), required=False, initial=REFUSE,
            label="If an annotator rated an item twice",
        )
    )  # fmt: skip
    skip_incomplete: bool = orders.switch(
        "Skip incomplete rows", "Rows that are ragged or lack a cell are skipped and listed in the report."
    )
    skip_unknown: bool = orders.switch(
        "Skip ratings of other items", "Ratings of items that the benchmark lacks are skipped and listed in the report."
    )


def queue_ratings(*, benchmark: Benchmark, order: RatingsOrder, file: Path, by: str, created_by=None, **more) -> Job:
    """Create a job that imports ratings. Raises Refused for an invalid order. `more`: `upload`, a folder to delete when
    the job has ended, `kept`, ids of the linked uploads by field, and `foreground`."""
    order = orders.checked(order)
    params = {"benchmark": benchmark.pk, "file": str(file), "by": by, **asdict(order)}
    params |= {"upload": more.get("upload"), "foreground": more.get("foreground", False)}
    params |= {"kept": more["kept"]} if more.get("kept") else {}
    title = f"Ratings of {benchmark.name} from {order.source}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)
