"""Simulate annotators' answers to a protocol file, with some structure in the results. Pure.

The truth about an item is its right answer, or else drawn from the item and the same for everybody. Annotators err at
the stated rate: on a scale by one point, in a number by up to a tenth of its range, in a check by statement, in marked
words at half the rate for each word. Marks on a picture are off by a twentieth of its sides at a rate of 0.1, or are
left out. Options of a comparison or a ranking have a quality, on average one less for each place further on; annotators
add noise of four times the rate to it. If a ranking's score shows which rankings are right, the truth is one of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from annotation.protocols import answers, base, edits, marks, measuring, numbers, option_sets, schema, values
from annotation.protocols.schema import ProtocolFile

_NOISE = 4  # times the error rate: standard deviation of the noise an annotator adds to an option's quality
_OFF = 0.1  # share of the range by which a number may be off
_TIED = 0.15  # qualities this close are a tie, if ties are allowed
_MARKED, _HOLDS = 0.15, 0.7  # shares of words that deserve a mark, and of statements that hold
_MOST_MARKED, _BORDER = 3, 1500  # on a picture, and how far from its border
_WORDS = "A simulated annotator wrote this. " * 150


def simulate(
    file: ProtocolFile, rng: Random, shown: Sequence[str], texts: base.TextsByIdentity, question: str = "",
    item: object = None, error_rate: float = 0.1, of_item: base.Attributes = base.NO_ATTRIBUTES,
) -> dict[str, str]:  # fmt: skip
    """Return the fields a simulated annotator submits, by answer. Without an item the truth is drawn afresh."""
    item = rng.random() if item is None else item
    said: dict[str, str] = {}
    written: dict[str, str] = {}
    for answer in file.answers:
        said[answer.name] = ""
        if answers.is_asked(answer, said, file):
            one = _Asked(file, answer, shown, texts, question, item, rng, error_rate, of_item)
            said[answer.name] = one.value()
            if isinstance(answer, schema.Text | schema.Edit):
                written[answer.name] = one.words(answer)
    found = base.Answer(answers.PARTING.join(said.values()), base.AnswerContent(texts=written))
    return answers.fill(file, found, shown)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question on a screen, and the annotator who answers it."""

    file: ProtocolFile
    answer: schema.Answer
    shown: Sequence[str]
    texts: base.TextsByIdentity
    question: str
    item: object
    rng: Random
    error_rate: float
    of_item: base.Attributes

    @property
    def truth(self) -> Random:
        return Random(f"{self.item}/{self.question}/{self.answer.name}")

    def errs(self, share: float = 1) -> bool:
        return self.rng.random() < self.error_rate * share

    def value(self) -> str:
        """Return the answer's part of the label."""
        match self.answer:
            case schema.Pick(many=False):
                return self._pick([*self._names(), *values.fixed_of(self.answer)])
            case schema.Pick():
                return self._several(self.answer)
            case schema.Pair():
                return self._better()
            case schema.Rank():
                return self._ranking(self.answer)
            case schema.Scale() | schema.Number() if numbers.is_typed(self.answer):
                return self._number(numbers.span_of(self.answer))
            case schema.Scale():
                return self._point(values.points(self.answer))
            case schema.Check():
                return ",".join(self._statements(self.answer))
            case schema.Words():
                return self._marks(self.answer)
            case schema.Points() | schema.Boxes():
                return self._on_picture(self.answer)
        return answers.WRITTEN if isinstance(self.answer, schema.Text) else answers.EDITED

    def words(self, answer: schema.Text | schema.Edit) -> str:
        """Return the text they write."""
        if isinstance(answer, schema.Text):
            return _WORDS[: max(answer.shortest, min(60, answer.longest))]
        return edits.simulated_edit(self._text(answer))[: answer.longest]

    def _names(self) -> list[str]:
        assert isinstance(self.answer, answers.Choosing)
        return sorted(answers.option_names(self.file, self.answer, self.shown).values())

    def _right(self, known: Sequence[str]) -> list[str]:
        """Return the values that are right by construction."""
        right = answers.right_answer(self.file, self.answer.name, self.question, self.of_item).split(",")
        return [one for one in known if values.in_table(one, right) in right]

    def _pick(self, known: Sequence[str]) -> str:
        right = self._right(known) or [self.truth.choice(known)]
        wrong = [one for one in known if one not in right]
        return self.rng.choice(wrong) if wrong and self.errs() else right[0]

    def _several(self, answer: schema.Pick) -> str:
        """Return the right set, or a drawn one, with errors by option; if that is too few or too many, other options
        make up for it.
        """
        names, truth = self._names(), self.truth
        every = [*names, *answer.fixed]
        known = [one for one in every if one not in answer.fixed or one != option_sets.NONE]
        held = self._right(every) or self._made_allowed(
            answer, known, [one for one in known if truth.random() < 0.5], truth
        )
        given = [one for one in known if (one in held) != self.errs()]
        if option_sets.NONE in held and (given == [] or not self.errs()):
            given = [option_sets.NONE]
        else:
            given = self._made_allowed(answer, known, given, self.rng)
        return option_sets.with_counts(self.file, answer, given, names)

    def _made_allowed(self, answer: schema.Pick, known: Sequence[str], some: Sequence[str], dice: Random) -> list[str]:
        """Return the options with some left out or added, so that they may be chosen together."""
        least, most = option_sets.limits(answer)
        others = [one for one in known if one not in some]
        more = dice.sample(others, min(len(others), max(0, least - len(some))))
        found = [*some, *more]
        return found if most is None or len(found) <= most else dice.sample(found, most)

    def _quality(self, name: str) -> float:
        place = name.rpartition("-")[2]
        return Random(f"{self.item}/{name}").gauss(-int(place) if place.isdecimal() else 0, 1)

    def _noisy(self, name: str) -> float:
        return self._quality(name) + self.rng.gauss(0, _NOISE * self.error_rate)

    def _better(self) -> str:
        names, fixed = self._names(), values.fixed_of(self.answer)
        if self._right([*names, *fixed]):
            return self._pick([*names, *fixed])
        (one, first), (other, second) = ((name, self._noisy(name)) for name in names)
        if abs(first - second) < _TIED and values.TIE in fixed:
            return values.TIE
        return one if first >= second else other

    def _ranking(self, answer: schema.Rank) -> str:
        """Return a ranking that scores, if a view of few rankings lists those that do; else one by quality."""
        measured = self.file.measure.get(answer.name) or schema.Measure()
        telling = [table for table in measured.views.values() if measured.score in table.values()]
        if not telling or not measuring.lists_labels(self.file):
            return ">".join(sorted(self._names(), key=self._noisy, reverse=True))
        every = measuring.orders(self.file, answer, self.shown)
        right = [one for one in every if measuring.seen_through(telling[0], one) == measured.score]
        return self.rng.choice(every) if self.errs() else self.truth.choice(right)

    def _point(self, points: Sequence[str]) -> str:
        right = self._right(points)
        place = points.index(right[0]) if right else self.truth.randrange(len(points))
        step = self.rng.choice((-1, 1)) if self.errs() else 0
        return points[place + step if 0 <= place + step < len(points) else place - step]

    def _number(self, span: numbers.Span) -> str:
        """Return a number that is usually near the middle; an error is at least one step."""
        last = span.size - 1
        right = answers.right_answer(self.file, self.answer.name, self.question)
        place = round(self.truth.triangular(0, last))
        if numbers.is_number(right):
            place = int((Decimal(right) - span.least) / span.step)
        away = 1 + int(self.rng.random() * last * _OFF) if self.errs() else 0
        side = self.rng.choice((-1, 1)) * away
        return span.at(place + side if 0 <= place + side <= last else max(0, min(last, place - side)))

    def _statements(self, answer: schema.Check) -> list[str]:
        truth, other = self.truth, [values.YES, values.NO, *([values.UNSURE] if answer.unsure else [])]
        held = [values.YES if truth.random() < _HOLDS else values.NO for _ in answers.statements_of(answer, self.texts)]
        return [self.rng.choice([one for one in other if one != said]) if self.errs() else said for said in held]

    def _marks(self, answer: schema.Words) -> str:
        truth, marks, found = self.truth, list(answer.marks), []
        count = len(self._text(answer).split())
        for place in range(1, count + 1):
            mark = truth.choice(marks) if truth.random() < _MARKED else ""
            if self.errs(0.5):
                mark = "" if mark else self.rng.choice(marks)
            found += [f"{place}:{mark}"] if mark else []
        return f"{count};{','.join(found)}"

    def _on_picture(self, answer: schema.Points | schema.Boxes) -> str:
        truth, labels, found = self.truth, [*answer.labels] or [""], list[marks.Mark]()
        most = max(answer.least, min(answer.most, _MOST_MARKED))
        for _ in range(truth.randint(answer.least, most)):
            at = [truth.randint(_BORDER, marks.WHOLE - _BORDER) for _ in range(2)]
            half = truth.randint(_BORDER // 4, _BORDER // 2)
            label, label_wrong = truth.choice(labels), self.rng.choice(labels)
            x, y = (round(one + self.rng.gauss(0, self.error_rate * _BORDER)) for one in at)
            x, y = (min(max(one, half), marks.WHOLE - half) for one in (x, y))
            corners = (x, y) if answer.kind == "points" else (x - half, y - half, x + half, y + half)
            if not self.errs() or len(found) < answer.least:
                found.append(marks.Mark(corners, label_wrong if self.errs(0.5) else label))
        return marks.written(found)

    def _text(self, answer: schema.Words | schema.Edit) -> str:
        """Return the text that is marked or edited."""
        return answers.text_of(self.file, answer, self.texts, self.question)
