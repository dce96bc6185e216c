"""Managers read reasons, answers and rules in words, not under the names that files have for them."""

import re
from collections.abc import Iterator

import pytest
from django.urls import reverse

from annotation.models import Stage
from tests.annotation.dashboard.page_numbers import SILENT, Node, Tree
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
NAME = re.compile(r"\b(?!as_of\b)[a-z]+_[a-z_]+\b")  # a key of the report's JSON, which its fingerprint leaves out
OF_STUDY = (
    "study-detail", "study-stages", "study-items", "study-annotators", "study-agreement", "study-disagreements",
    "study-adjudicate", "study-results", "study-report", "study-settings", "study-instructions", "study-blocked",
    "release-new",
)  # fmt: skip
OF_STAGE = ("study-stage", "study-item", "study-annotator", "study-checks")
ANSWERS = {
    "bivlc-choose": ("cannot_judge", "none", "candidate-1"),
    "verify": ("no", "cannot_tell"),
    "image-caption-foil": ("both", "neither"),
}


def judged(protocol: str) -> Stage:
    """By two people, who agree on every other item."""
    answers = ANSWERS[protocol]
    if protocol not in ("bivlc-choose", "verify"):
        made = declared.study(protocol, 4).stages.get()
        return declared.judge(made, 3, lambda task, who: answers[task.item.position * who % 2])
    stage = studies.stage(items=6, overlap=2, protocol=protocol)
    for who in range(2):
        person = studies.annotator(stage.study)
        for place in range(6):
            answer = answers[(place + who * (place % 2)) % len(answers)]
            studies.judgment(person, stage, answer, reason="It is too dark.")
    return stage


def texts(node: Node) -> Iterator[str]:
    for one in node.inside:
        if isinstance(one, str):
            yield one
        elif one.tag not in SILENT:
            yield from texts(one)


@pytest.mark.parametrize("protocol", ANSWERS)
def test_no_page_shows_the_name_of_a_reason_or_answer(client, manager, protocol):
    study = judged(protocol).study
    addresses = [reverse(name, args=[study.pk]) for name in OF_STUDY]
    addresses += [reverse(name, args=[study.pk, 1]) for name in OF_STAGE]
    shown = {at: " ".join(texts(Tree(client.get(at, follow=True).text).root)) for at in addresses}
    assert {at: found for at, text in shown.items() if (found := sorted(set(NAME.findall(text))))} == {}
