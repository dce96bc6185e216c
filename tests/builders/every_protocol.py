"""Items that every protocol can ask about, and answers for every protocol's screens."""

from random import Random

from annotation.models import Lease
from annotation.protocols.base import Protocol
from annotation.protocols.registry import PROTOCOLS
from annotation.screens.material import texts_of
from benchmarks.models import Benchmark, Caption, ItemImage
from tests.builders import studies

CHECKED = [name for name, protocol in PROTOCOLS.items() if protocol.form is None]  # that can have checks and practice
TRUTH = {"bivlc-choose": ["candidate-1"], "bivlc-disambiguate": ["positive-0"], "verify": ["yes"]}
MORE = [("second_positive", 0), ("negative", 1), *(("candidate", place) for place in range(3))]  # captions


def benchmark(items: int, **fields) -> Benchmark:
    """BiVLC's items of candidates, with a negative image too, further captions, and a known answer to each question."""
    made = studies.benchmark(items=items, **fields)
    made.items.update(truth=TRUTH)
    every = list(made.items.all())
    captions = [
        Caption(item=item, role=role, position=place, text=f"{number} cups and a plate, {item.position}.")
        for item in every
        for number, (role, place) in enumerate(MORE, 2)
    ]
    negatives = [
        ItemImage(item=item, role="negative", position=0, source_name=f"{item.key}_negative.jpg") for item in every
    ]
    studies.store([], captions, negatives)
    return made


def answer(rng: Random, lease: Lease, protocol: Protocol) -> dict[str, str]:
    """The fields of an answer that leaves all words as they are: what somebody writes is shown to others."""
    if protocol.form is None:
        return pick(rng, protocol)
    while True:
        fields = protocol.form.simulate(rng, lease.shown, texts_of(lease.task, lease.shown), lease.task.question)
        if "edit" not in fields and "third" not in fields:
            return fields


def pick(rng: Random, protocol: Protocol) -> dict[str, str]:
    """One of the first two options, or of the fixed answers where there are no options."""
    return {"answer": rng.choice("12" if any(protocol.picks) else [one.identity for one in protocol.fixed])}
