"""The questions of a release whose study asks for a pick with a right answer: what is shown, the options, and the right
ones, as in `scoring/questions.jsonl`. Pure.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.exports import item_parts
from annotation.measures.right_answers import shared_by
from annotation.protocols import answers, item_data, schema, tasks, values
from annotation.protocols.base import CAPTION_PREFIX, Attributes, TaskSpec, UnsuitableItem
from annotation.protocols.conditions import Never
from annotation.protocols.layout import drawn_by, layout_of
from annotation.protocols.schema import ProtocolFile
from annotation.releases.export_reader import record
from annotation.releases.scoring.released.items import PICK

FILE = "questions.jsonl"


@dataclass(frozen=True, slots=True)
class Picks:
    """The picks of the stage with this name, which uses this file."""

    stage: str
    file: ProtocolFile

    @property
    def by_item(self) -> bool:
        return bool(item_data.rights(self.file))

    def settings(self) -> dict[str, Any]:
        """Return the settings for the manifest. `measures` maps each measure's name to its answer or group."""
        names = list(self.file.right)
        measures = {"accuracy" if len(names) == 1 else f"accuracy_{name}": {"answer": name} for name in names}
        for group in self._groups():
            measures[f"group_{group}" if group in (*measures, "tied", "unanswered") else group] = {"group": group}
        asks = {name: self.file.answer(name).ask or self.file.ask for name in names}
        return {"kind": PICK, "stage": self.stage, "asks": asks, "measures": measures}

    def _groups(self) -> list[str]:
        """Return the groups except comparisons, which depend on the shares of several annotators."""
        return [name for name, of in self.file.group.items() if not isinstance(of, schema.Comparison)]

    def questions(self, lines: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the questions about the items in these lines of items.jsonl, except items that lack what the file asks
        about, or a right answer.
        """
        for line in lines:
            item, carried = record(line), {}
            if line["negative_image"]:
                carried["negative"] = line["negative_image"]
            try:
                asked = tasks.tasks_of(self.file, item, carried)
            except UnsuitableItem:
                continue
            file, of_item = tasks.file_about(self.file, item, carried), item_data.attributes_of(self.file, item)
            parts = _parts_of(line)
            for task in asked:
                shown = [
                    {**parts[one], **({"label": label} if (label := getattr(block, "label", None)) else {})}
                    for block, identities in layout_of(file, task.shows).blocks
                    for one in identities
                ]
                for name in file.right:
                    if not isinstance(file.answer(name).when, Never):
                        own = self._question(line, task, name, of_item, parts)
                        if own["right"]:
                            yield {"item": line["id"], **own, "shown": shown}

    def _question(
        self, line: Mapping[str, Any], task: TaskSpec, name: str, of_item: Attributes, parts: Mapping[str, dict]
    ) -> dict[str, Any]:
        """Return a question. If the right option is the item's own, options keep the item's order; otherwise the order
        is drawn by the question, so that places don't reveal anything.
        """
        file, answer = self.file, self.file.answer(name)
        options = [
            {"value": value, **parts[one]} for one, value in answers.option_names(file, answer, task.options).items()
        ]
        if name not in item_data.rights(file):
            seed = f"{line['id']}/{task.question}/"
            options.sort(key=lambda one: hashlib.sha256((seed + one["value"]).encode()).digest())
        options += [{"value": value, "text": one.label} for value, one in answer.fixed.items()]
        right = answers.right_answer(file, name, task.question, of_item)
        about = (line["position"], task.question, 0)
        groups = {group: shared_by(file, group, about, {line["position"]: of_item}) for group in self._groups()}
        return {
            "question": "/".join(filter(None, (task.question, name if len(file.right) > 1 else ""))),
            "answer": name,
            "options": options,
            "right": [one["value"] for one in options if values.in_table(one["value"], [right]) == right],
            "groups": {group: json.dumps(key) for group, key in groups.items() if key is not None},
        }


def picks_of(files: Mapping[str, ProtocolFile]) -> Picks | None:
    """Return the last stage that asks for picks with right answers, if any. `files`: protocol files by stage name."""
    return next((Picks(stage, file) for stage, file in reversed([*files.items()]) if _fits(file)), None)


def _fits(file: ProtocolFile) -> bool:
    """Return whether each answer with a right one is a pick of one option by every annotator, and nothing is drawn."""
    picks = [file.answer(name) for name in file.right]
    return (
        bool(picks)
        and all(isinstance(one, schema.Pick) and not one.many and _is_asked(one) for one in picks)
        and not any(isinstance(block, schema.Picture) and drawn_by(block) for block in file.screen)
    )


def _is_asked(answer: schema.Pick) -> bool:
    """Return whether it is always asked, whatever else is answered."""
    return not answer.when or not (answer.when.all or answer.when.any)


def _parts_of(line: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return, by identity, the text, or the image by its place in the split and its hash."""
    found = {}
    for part, members in item_parts.parts_of(line).items():
        kind, _, role = part.partition(":")
        for place, one in enumerate(members):
            if kind == "image" and one:
                column = f"{role}-{place}" if place else role
                found[one["key"]] = {"image": column, "sha256": one["sha256"]}
            elif kind == "caption":
                found[f"{CAPTION_PREFIX}{role}-{place}"] = {"text": one}
    return found
