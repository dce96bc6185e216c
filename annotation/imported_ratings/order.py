"""The options for importing ratings: whose ratings of which benchmark, under which protocol."""

from dataclasses import dataclass

from django import forms

from annotation.models import RatingsFile, Study
from annotation.protocols import library
from annotation.protocols.registry import is_known, protocol_named
from annotation.protocols.roles import CannotMap, read_roles, with_roles
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.own.ratings import ALL, FIRST, LAST, REFUSE, RatingsMapping
from benchmarks.jobs import columns, orders
from benchmarks.models import Benchmark, Job
from benchmarks.records import Problem, Refused
from benchmarks.runs.import_predictions import OneLineField

KIND = "ratings"
REPEATED = {
    REFUSE: "Refuse the file", FIRST: "Keep the first", LAST: "Keep the last", ALL: "Keep each as another annotator’s",
}  # fmt: skip


class ProtocolField(forms.CharField):
    """A protocol file: a library file's name, or a published file as NAME@VERSION."""

    def clean(self, value: object) -> str:
        name = str(super().clean(value))
        if name not in library.names() and not ("@" in name and is_known(name)):
            known = ", ".join(library.names())
            raise forms.ValidationError(f"That protocol file does not exist. The library has {known}.")
        return name


@dataclass(frozen=True)
class RatingsOrder:
    name: str = orders.described(
        OneLineField(max_length=Study._meta.get_field("name").max_length, label="Name of the new study")
    )
    protocol: str = orders.described(
        ProtocolField(
            max_length=40, label="Protocol file",
            help_text="What was asked: a library protocol, or a published one as `NAME@VERSION`.",
        )
    )  # fmt: skip
    source: str = orders.described(
        OneLineField(
            max_length=RatingsFile._meta.get_field("source").max_length, label="Source",
            help_text="Where the ratings come from: a repository with its version, or a paper. Releases cite it.",
        )
    )  # fmt: skip
    mapping: str = orders.mapping(
        RatingsMapping.from_text,
        8,
        "The meaning of each column, as JSON. If empty, columns are recognised by their names.",
    )  # fmt: skip
    roles: str = orders.text(
        "Roles",
        "The benchmark’s names for the protocol’s roles: `picture=scene, captions.foil=negative`.",
        max_length=500,
        required=False,
    )
    repeated: str = orders.choice(
        "If an annotator rated an item twice", list(REPEATED.items()), required=False, initial=REFUSE
    )
    skip_incomplete: bool = orders.switch(
        "Skip incomplete rows", "Rows that are ragged or lack a cell are skipped and listed in the report."
    )
    skip_unknown: bool = orders.switch(
        "Skip ratings of other items", "Ratings of items not in the benchmark are skipped and listed in the report."
    )
    look: bool = orders.look()


def asked(protocol: str, roles: str) -> ProtocolFile:
    """Return the protocol file with that name, with the benchmark's names for its roles. Raises CannotMap."""
    file = library.shipped(protocol) if "@" not in protocol else protocol_named(protocol).made_from
    assert file is not None  # published versions have a file
    return with_roles(file, read_roles(roles, [file])[0])


def queue_ratings(*, benchmark: Benchmark, order: RatingsOrder, **given) -> Job:
    """Create a job that imports ratings. `given`: see columns.queue_files. Raises Refused for an invalid order."""
    order = orders.checked(order)
    try:
        asked(order.protocol, order.roles)
    except CannotMap as refusal:
        raise Refused([Problem("WRONG_VALUE", "", None, "roles", f"Roles: {refusal}")]) from None
    title = f"Ratings of {benchmark.name} from {order.source}"
    return columns.queue_files(KIND, title, benchmark=benchmark, order=order, **given)
