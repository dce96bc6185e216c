"""Turn ratings into judgments of a stage's tasks: each with its task, and the answer as a judgment stores it."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random

from annotation.models import MOST_JUDGMENTS, Stage
from annotation.protocols import answers, option_sets, rankings, schema, values
from annotation.protocols.base import CANNOT_JUDGE, Answer, AnswerContent
from annotation.protocols.compile import is_plain
from annotation.protocols.measuring import is_set
from annotation.protocols.ratings import Rated, RatedFile
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.base import ProblemLog
from benchmarks.models import Caption
from benchmarks.records import Origin

OptionNames = Callable[[str, tuple[str, ...]], Mapping[str, str]]  # of an answer, as `answers.option_names` has them


@dataclass(slots=True)
class RatedTask:
    """A task of the stage with its judgments."""

    pk: int
    item: int
    question: str
    overlap: int
    rank: int
    options: tuple[str, ...]
    given: list[tuple[str, Origin, Answer]] = field(default_factory=list)  # annotator, row, answer

    def shown(self, seed: int, annotator: str) -> list[str]:
        """Return the options in an order drawn for the annotator; the order in which they saw them is unknown."""
        drawn = Random(hashlib.sha256(f"{seed} {self.rank} {annotator}".encode()).digest())
        return drawn.sample(self.options, len(self.options))


def matched(stage: Stage, file: ProtocolFile, rated: RatedFile, log: ProblemLog, skip_unknown: bool) -> list[RatedTask]:
    """Return the stage's tasks that have ratings, in the file's order. Errors go to the log."""
    by_name = {(key, task.question): task for key, task in _tasks(stage)}
    questions: dict[str, list[str]] = {}
    for key, question in by_name:
        questions.setdefault(key, []).append(question)
    texts = (
        _texts(stage) if any(isinstance(one, schema.Check | schema.Words | schema.Edit) for one in file.answers) else {}
    )
    found: dict[int, RatedTask] = {}
    names = cache(lambda name, options: answers.option_names(file, file.answer(name), options))
    for row, origin in zip(rated.rows, rated.origins, strict=True):
        asked = questions.get(row.item)
        if asked is None:
            _unknown(rated, row, origin, log, skip_unknown)
            continue
        question = asked[0] if not row.question and len(asked) == 1 else row.question
        task = by_name.get((row.item, question))
        if task is None:
            column = rated.mapping.question or "question"
            advice = f"Name one of the item’s tasks here: {', '.join(asked[:9])}."
            log.error("WRONG_VALUE", origin.file, origin.row, column, advice)
            continue
        answer = _answer(file, row, task, texts.get(task.item, {}), names, rated, origin, log)
        if answer is not None:
            found.setdefault(task.pk, task).given.append((row.annotator, origin, answer))
            if len(task.given) == MOST_JUDGMENTS + 1:
                advice = f"A task can have at most {MOST_JUDGMENTS} judgments. Remove the extra rows."
                log.error("TOO_MANY_ROWS", origin.file, origin.row, rated.mapping.item, advice)
    return list(found.values())


def _tasks(stage: Stage) -> Iterator[tuple[str, RatedTask]]:
    columns = "item__key", "pk", "item_id", "question", "overlap", "rank", "options"
    for key, pk, item, question, overlap, rank, options in stage.tasks.order_by("rank").values_list(*columns):
        yield key, RatedTask(pk, item, question, overlap, rank, tuple(options))


def _texts(stage: Stage) -> dict[int, dict[str, str]]:
    """Return each item's texts by identity."""
    found: dict[int, dict[str, str]] = {}
    columns = "item_id", "role", "position", "text"
    for item, role, position, text in Caption.objects.filter(item__tasks__stage=stage).distinct().values_list(*columns):
        found.setdefault(item, {})[f"caption-{role}-{position}"] = text
    return found


def _unknown(rated: RatedFile, row: Rated, origin: Origin, log: ProblemLog, skip: bool) -> None:
    column = rated.mapping.item or "item"
    if skip:
        log.left_out += 1
        log.note("UNKNOWN_ID", origin.file, origin.row, column, f"The study has no item “{row.item[:80]}”. Skipped.")
    else:
        advice = f"The benchmark has no item “{row.item[:80]}”. Correct the id or the mapping, or skip such rows."
        log.error("UNKNOWN_ID", origin.file, origin.row, column, advice)


def _answer(
    file: ProtocolFile, row: Rated, task: RatedTask, texts: Mapping[str, str], names: OptionNames, rated: RatedFile,
    origin: Origin, log: ProblemLog,
) -> Answer | None:  # fmt: skip
    """Return the answer as a judgment of the task stores it; None, with the problem in the log, if the item lacks
    it."""
    if row.label == CANNOT_JUDGE:
        return Answer(CANNOT_JUDGE, AnswerContent())
    parts = answers.parts_of(row.label, file)
    for name, said in parts.items():
        answer = file.answer(name)
        if said and (advice := _misfit(file, answer, said, task, texts, names)):
            source = rated.mapping.answers.get(name)
            column = ", ".join(source.all_places) if source else name
            log.error("WRONG_VALUE", origin.file, origin.row, column, advice)
            return None
        if isinstance(answer, schema.Edit) and row.texts.get(name) == answers.text_of(
            file, answer, texts, task.question
        ):
            parts[name] = answers.UNCHANGED
    content = AnswerContent(texts=dict(row.texts)) if row.texts else AnswerContent()
    if is_plain(file) and isinstance(answer := file.answers[0], schema.Pick | schema.Pair):
        stored = {name: identity for identity, name in names(answer.name, task.options).items()}
        return Answer(stored.get(row.label, row.label), content)
    return Answer(answers.PARTING.join(parts.values()), content)


def _misfit(
    file: ProtocolFile, answer: schema.Answer, said: str, task: RatedTask, texts: Mapping[str, str], names: OptionNames
) -> str:
    """Return why the item cannot have this answer; "" if it can."""
    match answer:
        case schema.Pick() | schema.Pair() | schema.Rank():
            known = set(names(answer.name, task.options).values())
            given = sorted(option_sets.chosen(said)) if is_set(answer) else [said]
            if isinstance(answer, schema.Rank):
                given = [one for tier in rankings.tiers(said) for one in tier]
                if set(given) != known:
                    return f"Rank the item’s options: {', '.join(sorted(known))}."
            wrong = [one for one in given if one not in known and one not in values.fixed_of(answer)]
            return f"The item has no option “{wrong[0]}”. Its options are {', '.join(sorted(known))}." if wrong else ""
        case schema.Check():
            count = len(answers.statements_of(answer, texts))
            return "" if said.count(",") + 1 == count else f"The item has {count} statements. Answer every one."
        case schema.Words():
            count = len(answers.text_of(file, answer, texts, task.question).split())
            return "" if int(said.partition(";")[0]) == count else f"The item’s text has {count} words."
    return ""
