"""Everything that an annotator can see or measure of a screen, as numbers, and classifiers that look for a tell in it.

Annotators work through a study by the real pages: some by the page's own JSON, the others by plain forms and whole
pages. What a screen says (its words, which pictures it shows) is left out: that is what they are to judge, and a
picture that comes to many is the same picture each time. So material for this is alike in everything that is no tell.
"""

import re
import time
import uuid
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy
from django.db import connection
from django.test import Client
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from annotation.checks import attention_checks
from annotation.models import Annotator, Kind, Lease, Stage, Strategy, Task
from annotation.protocols.base import Protocol
from benchmarks.models import Benchmark, Caption, ItemImage
from tests.builders import studies

JSON = {"HTTP_ACCEPT": "application/json"}
CYCLES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
FRAGMENT = re.compile(r'<fieldset class="screen" data-lease=.*?</fieldset>', re.DOTALL)
CLASSIFIERS = {
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "random forest": lambda: RandomForestClassifier(150, min_samples_leaf=5, random_state=0),
}


@dataclass
class Seen:
    """One screen as it was presented, by feature; `lease` finds out afterwards what it was."""

    lease: str
    who: int
    features: dict[str, float] = field(default_factory=dict)


def check_sum(text: str) -> float:
    return zlib.crc32(text.encode()) % 10_007


def shape(address: str) -> str:
    """An address with its hexadecimal digits made equal."""
    return re.sub(r"[0-9a-f]", "x", address)


def of_fragment(html: str, lease: str) -> dict[str, float]:
    """Sizes, tags, attributes and their order, the shapes of addresses, and the bytes of the lease's token."""
    tags = re.findall(r"<(\w+)((?:\s+[\w-]+(?:=\"[^\"]*\")?)*)", html)
    names = [(tag, *re.findall(r"([\w-]+)(?==|\s|$)", rest)) for tag, rest in tags]
    addresses = re.findall(r'src="([^"]+)"', html)
    values = re.sub(r'(src|data-lease)="[^"]*"|value="[0-9a-f-]{36}"|>[^<]*<', "", html)
    found = {
        "bytes": len(html.encode()), "tags": len(tags), "attributes": sum(len(one) - 1 for one in names),
        "order": check_sum(repr(names)), "values": check_sum(values), "addresses": len(addresses),
        "address_shapes": check_sum(repr([shape(one) for one in addresses])), "token_length": len(lease),
    }  # fmt: skip
    for place, option in enumerate(html.split('<input type="radio"')[1:]):
        bare = re.sub(r'src="([^"]*)"', lambda src: shape(src[1]), option)
        found |= {f"option_{place}_bytes": len(option.encode()), f"option_{place}_order": check_sum(bare)}
    return found | {f"token_{place}": byte for place, byte in enumerate(uuid.UUID(lease).bytes)}


def of_answer(answer, seconds: float, name: str) -> dict[str, float]:
    """What a response says of itself: how long it took, its size, its status and its headers."""
    headers = sorted(answer.headers)
    long = {f"{name}_header_bytes": sum(len(value) for value in answer.headers.values())}
    return long | {
        f"{name}_ms": seconds * 1000, f"{name}_bytes": len(answer.content), f"{name}_status": answer.status_code,
        f"{name}_headers": check_sum(repr(headers)),
    }  # fmt: skip


class Sitting:
    """One annotator's session; `seen` in the order in which the screens were in front of them."""

    def __init__(self, annotator: Annotator, number: int, plain: bool):
        self.client, self.home = Client(), f"/judge/{annotator.token}/"
        self.number, self.plain, self.rng = number, plain, Random(number)
        self.seen: list[Seen] = []
        self.waiting: list[Seen] = []

    def ask(self, method: str, address: str, *given, **headers):
        start = time.perf_counter()
        answer = getattr(self.client, method)(address, *given, **headers)
        return answer, time.perf_counter() - start

    def arrived(self, fragments: Iterable[str], brought: dict[str, float]) -> None:
        """New screens, and what brought them."""
        known = {one.lease for one in [*self.waiting, *self.seen]}
        for html in fragments:
            lease = re.search(r'data-lease="([^"]+)"', html)[1]
            if lease not in known:
                self.waiting.append(Seen(lease, self.number, of_fragment(html, lease) | brought))

    def page(self) -> str:
        answer, seconds = self.ask("get", self.home)
        html = answer.content.decode()
        done, total = (re.search(rf'data-{name}="(\d+)"', html) for name in ("done", "total"))
        brought = of_answer(answer, seconds, "page") | {"done": int(done[1]) if done else 0}
        brought["total"] = int(total[1]) if total else 0
        self.arrived(FRAGMENT.findall(html), brought)
        return html

    def work(self, screens: int) -> list[Seen]:
        """Answers so many screens, or as many as there are."""
        html = self.page()
        while self.waiting and len(self.seen) < screens:
            now = self.waiting.pop(0)
            before = self.seen[-1].features if self.seen else {}
            now.features |= {f"before_{name}": before.get(name, 0) for name in ("submit_ms", "submit_bytes", "bytes")}
            self.seen.append(now)
            html = self.answer(now, html)
        return self.seen

    def answer(self, now: Seen, html: str) -> str:
        sent = {"lease": now.lease, "key": str(uuid.uuid4()), "active": 900, "elapsed": 1000}
        sent |= {"answer": self.rng.choice("12"), "have": [one.lease for one in self.waiting]}
        answer, seconds = self.ask("post", f"{self.home}submit/", sent, **({} if self.plain else JSON))
        now.features |= of_answer(answer, seconds, "submit")
        if self.plain:
            return self.page()
        told = answer.json()
        brought = of_answer(answer, seconds, "brought") | {"done": told["done"], "held": len(told["held"])}
        self.arrived([one["html"] for one in told["screens"]], brought)
        return html


def collect(stage: Stage, annotators: int, screens: int, plain: int = 5) -> list[Seen]:
    """Everybody's screens; one annotator in `plain` works by plain forms."""
    found = []
    for number in range(annotators):
        sitting = Sitting(studies.annotator(stage.study), number, plain=number % plain == 0)
        seen = sitting.work(screens)
        for place, one in enumerate(seen):
            one.features |= {"place": place, "plain": sitting.plain}
            one.features |= {f"place_mod_{cycle}_{place % cycle}": 1.0 for cycle in CYCLES}
        found += seen
    return found


QUESTIONS = {"bivlc-choose": 1, "bivlc-i2t": 2, "bivlc-t2i": 2}  # that an item makes


def alike(benchmark: Benchmark) -> None:
    """Captions in the same words, so that no size says which item it is."""
    Caption.objects.filter(item__benchmark=benchmark).update(text="A red cup and a blue plate.")


def stage_with_checks(strategy: str, items: int, known: int, **settings) -> Stage:
    """One screen in four is a check, from another benchmark."""
    stage = studies.stage(items=items, overlap=50, strategy=strategy, check_rate=0.25, **settings)
    source = studies.benchmark(items=known)
    source.items.update(truth={"bivlc-choose": ["candidate-1"]})
    for benchmark in (stage.study.benchmark, source):
        alike(benchmark)
    attention_checks.set_checks(stage=stage, answers={item: [] for item in source.items.all()}, by="test")
    return stage


def stage_with_sides(protocol: str, items: int) -> Stage:
    """Every item has two captions, two images to tell apart, and candidates of which the second is right."""
    source = studies.benchmark(items=items)
    source.items.update(truth={"bivlc-choose": ["candidate-1"]})
    for item in source.items.all():
        ItemImage.objects.create(item=item, image=studies.image(), role="negative", position=0, source_name="n.jpg")
    alike(source)
    return studies.stage(benchmark=source, protocol=protocol, overlap=50, strategy=Strategy.EVERYONE)


def seed(number: int) -> None:
    """The database draws the order of options; seeded, the same study shows the same orders again."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(%s)", [1 / (number + 1)])


# What is to be found out


def is_check(seen: Sequence[Seen]) -> list[bool]:
    leases = Lease.objects.filter(token__in=[one.lease for one in seen]).select_related("task")
    kinds = {str(lease.token): lease.task.kind for lease in leases}
    return [kinds[one.lease] == Kind.CHECK for one in seen]


def right_place(seen: Sequence[Seen], protocol: Protocol) -> list[int]:
    """At which place on each screen the right option stood."""
    leases = Lease.objects.filter(token__in=[one.lease for one in seen]).select_related("task__item")
    places = {str(lease.token): lease.shown.index(right(lease.task, protocol)) for lease in leases}
    return [places[one.lease] for one in seen]


def right(task: Task, protocol: Protocol) -> str:
    return protocol.right_answer(task.question, task.options) or task.item.truth[protocol.name][0]


# Looking for it


def matrix(seen: Sequence[Seen], without: Sequence[str] = ()) -> numpy.ndarray:
    names = sorted({name for one in seen for name in one.features if not any(part in name for part in without)})
    table = numpy.array([[one.features.get(name, 0.0) for name in names] for one in seen])
    return table[:, table.std(axis=0) > 0]


def folds(seen: Sequence[Seen]):
    """Each annotator's screens are held out together."""
    return GroupKFold(5).split(seen, groups=[one.who for one in seen])


def auc(seen: Sequence[Seen], labels: Sequence[bool], **options) -> dict[str, float]:
    """Of each classifier, the mean area under the curve on annotators that it has not seen; 0.5 is blind."""
    table, labels = matrix(seen, **options), numpy.array(labels)
    found = {}
    for name, made in CLASSIFIERS.items():
        parts = []
        for train, test in folds(seen):
            scores = made().fit(table[train], labels[train]).predict_proba(table[test])[:, 1]
            parts.append((roc_auc_score(labels[test], scores), len(test)))
        found[name] = float(numpy.average([part for part, _ in parts], weights=[size for _, size in parts]))
    return found


def accuracy(seen: Sequence[Seen], labels: Sequence[int], **options) -> dict[str, float]:
    """Of each classifier, how often it tells the place on annotators that it has not seen."""
    table, labels = matrix(seen, **options), numpy.array(labels)
    found = {}
    for name, made in CLASSIFIERS.items():
        told = numpy.empty_like(labels)
        for train, test in folds(seen):
            told[test] = made().fit(table[train], labels[train]).predict(table[test])
        found[name] = float(accuracy_score(labels, told))
    return found
