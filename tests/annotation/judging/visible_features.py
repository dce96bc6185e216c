"""Everything that an annotator can see or measure of a screen, as numbers, and classifiers that look for a tell in it.

Annotators work through a study by the real pages: some by the page's own JSON, the others by plain forms and whole
pages. What a screen says (its words, which pictures it shows) is left out: that is what they are to judge, and a
picture that comes to many is the same picture each time. So material for this is alike in everything that is no tell:
all captions in the same words, one photograph for all originals and one square for all generated images.
"""

import io
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
from PIL import Image as Drawing
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from annotation.checks import attention_checks
from annotation.models import Annotator, Kind, Lease, Stage, Strategy, Task
from annotation.protocols.base import Protocol
from annotation.protocols.registry import PROTOCOLS
from benchmarks.imports import frames
from benchmarks.models import Benchmark, Caption, Image, ItemImage
from tests.builders import every_protocol, pictures, studies

JSON = {"HTTP_ACCEPT": "application/json"}
CYCLES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
FRAGMENT = re.compile(r'<fieldset class="screen" data-lease=.*?</fieldset>', re.DOTALL)
TREES = 150
CLASSIFIERS = {
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
    "random forest": lambda: RandomForestClassifier(TREES, min_samples_leaf=5, random_state=0),
}


@dataclass
class Seen:
    """One screen as it was presented, by feature; `lease` finds out afterwards what it was."""

    lease: str
    who: int
    features: dict[str, float] = field(default_factory=dict)
    html: str = ""


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
        f"{name}_ms": seconds * 1000,
        f"{name}_bytes": len(answer.content),
        f"{name}_status": answer.status_code,
        f"{name}_headers": check_sum(repr(headers)),
    }


def of_picture(answer, seconds: float) -> dict[str, float]:
    """`of_answer`, and the picture's own size."""
    width, height = Drawing.open(io.BytesIO(answer.content)).size
    return of_answer(answer, seconds, "file") | {"width": width, "height": height}


class Sitting:
    """One annotator's session; `seen` in the order in which the screens were in front of them."""

    def __init__(self, annotator: Annotator, number: int, plain: bool, files: bool = True):
        self.client, self.home = Client(), f"/judge/{annotator.token}/"
        self.protocol, self.files = PROTOCOLS[annotator.stage.protocol], {}
        self.looks_at_files = files
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
        for html in map(str.strip, fragments):
            lease = re.search(r'data-lease="([^"]+)"', html)[1]
            if lease not in known:
                features = of_fragment(html, lease) | brought | self.of_pictures(html)
                self.waiting.append(Seen(lease, self.number, features, html))

    def of_pictures(self, html: str) -> dict[str, float]:
        """What a browser gets of each picture but its pixels, by its place on the screen. It asks for each once."""
        found = {}
        addresses = re.findall(r'src="([^"]+)"', html) if self.looks_at_files else []
        for place, address in enumerate(addresses):
            if address not in self.files:
                self.files[address] = of_picture(*self.ask("get", address))
            found |= {f"picture_{place}_{name}": value for name, value in self.files[address].items()}
        return found

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
        sent |= {"have": [one.lease for one in self.waiting], **self.fields(now.lease)}
        answer, seconds = self.ask("post", f"{self.home}submit/", sent, **({} if self.plain else JSON))
        assert answer.status_code in (200, 302), answer.content
        now.features |= of_answer(answer, seconds, "submit")
        if self.plain:
            return self.page()
        told = answer.json()
        brought = of_answer(answer, seconds, "brought") | {"done": told["done"], "held": len(told["held"])}
        self.arrived([one["html"] for one in told["screens"]], brought)
        return html

    def fields(self, token: str) -> dict[str, str]:
        if self.protocol.form is None:
            return every_protocol.pick(self.rng, self.protocol)
        return every_protocol.answer(self.rng, Lease.objects.select_related("task").get(token=token), self.protocol)


def collect(stage: Stage, annotators: int, screens: int, plain: int = 5, files: bool = True) -> list[Seen]:
    """Everybody's screens; one annotator in `plain` works by plain forms."""
    found = []
    for number in range(annotators):
        sitting = Sitting(studies.annotator(stage.study), number, number % plain == 0, files)
        seen = sitting.work(screens)
        for place, one in enumerate(seen):
            one.features |= {"place": place, "plain": sitting.plain}
            one.features |= {f"place_mod_{cycle}_{place % cycle}": 1.0 for cycle in CYCLES}
        found += seen
    return found


QUESTIONS = {"bivlc-i2t": 2, "bivlc-t2i": 2, "verify": 2}  # that an item makes; others make one


def material(items: int, files: bool = True) -> Benchmark:
    """Items that every protocol can ask about, with a known answer, and alike in everything that is no tell.

    Without `files`, pictures are rows alone, and `collect` does not ask for them.
    """
    made = every_protocol.benchmark(items)
    Caption.objects.filter(item__benchmark=made).update(text="A red cup and a blue plate.")
    photograph, square = (pictures.rendered(pictures.draw(0, *size)) for size in ((240, 190), (200, 200)))
    for rendered, uses in ((photograph, {"role": "positive"}), (square, {"role__in": ["negative", "candidate"]})):
        mine = Image.objects.filter(uses__in=ItemImage.objects.filter(item__benchmark=made, **uses))
        mine.update(width=rendered.width, height=rendered.height)
        for image in mine if files else ():
            pictures.put(image, rendered)
    if files:
        frames.make_missing(made)
    return made


def stage_with_checks(strategy: str, items: int, known: int, files: bool = True, **settings) -> Stage:
    """One screen in four is a check, from another benchmark; so many `items` and `known` ones."""
    source, others = material(items, files), material(known, files)
    stage = studies.stage(benchmark=source, overlap=50, strategy=strategy, check_rate=0.25, **settings)
    attention_checks.set_checks(stage=stage, answers={item: [] for item in others.items.all()}, by="test")
    return stage


def stage_with_sides(protocol: str, items: int, annotators: int = 50, files: bool = True) -> Stage:
    """Everybody meets all `items`; or so many others, where an item is judged once."""
    form = PROTOCOLS[protocol].form
    if form and form.confirms:
        return studies.stage(benchmark=material(items * annotators, files), protocol=protocol, quota=items)
    return studies.stage(benchmark=material(items, files), protocol=protocol, overlap=50, strategy=Strategy.EVERYONE)


def seed(number: int) -> None:
    """The database draws the order of options; seeded, the same study shows the same orders again."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(%s)", [1 / (number + 1)])


# What is to be found out


def is_check(seen: Sequence[Seen]) -> list[bool]:
    leases = Lease.objects.filter(token__in=[one.lease for one in seen]).select_related("task")
    kinds = {str(lease.token): lease.task.kind for lease in leases}
    return [kinds[one.lease] == Kind.CHECK for one in seen]


def first_place(seen: Sequence[Seen]) -> list[int]:
    """At which place on each screen the first option of its task stood: the original image, the positive caption."""
    leases = Lease.objects.filter(token__in=[one.lease for one in seen]).select_related("task")
    places = {str(lease.token): lease.shown.index(lease.task.options[0]) for lease in leases}
    return [places[one.lease] for one in seen]


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
