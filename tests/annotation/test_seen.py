"""Two managers save the same form, one after the other: the second is stopped, sees both, and decides."""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.urls import reverse

from annotation.checks import parsing
from annotation.models import Member, Role, Stage, Webhook
from annotation.protocol_files import drafts
from annotation.webhooks import connection, endpoints
from benchmarks.seen import SeenForm
from tests.builders import studies

pytestmark = pytest.mark.django_db
QUESTION = "May a cup be red?\n* Yes\n- No\n"
CODES = {"completion_code": "DONE", "screened_out_code": "OUT", "no_consent_code": "NO"}


@dataclass(frozen=True)
class Case:
    """A form: its page, where it posts to, what it posts, the field that both change, and what is stored."""

    page: str
    sends: dict
    name: str
    first: str
    second: str
    stored: Callable[[], object]
    to: str = ""
    decides: dict = field(default_factory=dict)  # what saves over the other text, besides having seen it


def instructions(stage: Stage) -> Case:
    page = f"{reverse('study-instructions', args=[stage.study_id])}?stage=1"
    texts = "The first one’s rule.", "The second one’s rule."
    return Case(page, {}, "text", *texts, lambda: stage.instructions.latest("version").text)


def settings(stage: Stage) -> Case:
    sends = {"do": "settings", "practice_pass": "80", "practice_tries": "2", "on_failure": stage.on_failure}
    page = reverse("study-checks", args=[stage.study_id, 1])
    return Case(page, sends, "check_rate", "20", "30", lambda: f"{reread(stage).check_rate * 100:.0f}")


def of_study(stage: Stage) -> Case:
    sends = {
        "name": "Spring", "consent": "", "pay_per_hour": "0", "currency": "USD", "overlap_1": "1", "check_rate_1": "0",
        "tie_rule_1": "drop",
    }  # fmt: skip
    stored = lambda: reread(stage.study).name  # noqa: E731
    return Case(reverse("study-settings", args=[stage.study_id]), sends, "name", "Autumn", "Winter", stored)


def questions(stage: Stage) -> Case:
    page, texts = reverse("study-checks", args=[stage.study_id, 1]), (QUESTION, QUESTION.replace("red", "blue"))
    stored = lambda: parsing.write_questions(reread(stage).comprehension)  # noqa: E731
    return Case(page, {"do": "questions"}, "text", *texts, stored)


def codes(stage: Stage) -> Case:
    page, to = (reverse(name, args=[stage.study_id]) for name in ("study-prolific", "study-codes"))
    stored = lambda: reread(stage.study).completion_code  # noqa: E731
    return Case(page, CODES, "completion_code", "FIRST1", "SECOND2", stored, to)


def role(stage: Stage) -> Case:
    member = Member.objects.create(study=stage.study, user=User.objects.create(username="bea"), role=Role.VIEWER)
    page, to = (
        reverse("study-members", args=[stage.study_id]),
        reverse("study-member", args=[stage.study_id, member.pk]),
    )
    return Case(page, {}, "role", "manager", "owner", lambda: reread(member).role, to)


def webhook(stage: Stage) -> Case:
    made, _ = endpoints.add(owner=stage.study, url="https://example.org/a", types=[], by="test")
    texts = "https://example.org/first", "https://example.org/second"
    page = reverse("webhook-detail", args=[made.pk])
    return Case(page, {"do": "change"}, "url", *texts, lambda: Webhook.objects.get().url)


def account(stage: Stage) -> Case:
    texts, stored = ("ana@first.test", "bea@second.example"), lambda: User.objects.get(username="ana").email
    return Case(reverse("account"), {"save": "email"}, "email", *texts, stored)


def draft(stage: Stage) -> Case:
    user = User.objects.get(username="ana")
    made = drafts.start_draft(start="", user=user, by="test")
    page, texts = reverse("protocol-draft", args=[made.pk]), ("title: first", "title: second")
    return Case(page, {}, "text", *texts, lambda: reread(made).text, decides={"do": "overwrite"})


def target(stage: Stage) -> Case:
    audited = studies.stage(items=1, created_by=stage.study.created_by, strategy="audit", target_half_width=0.2)
    to = reverse("stage-target", args=[audited.study_id, 1])
    stored = lambda: f"{reread(audited).target_half_width * 100:g}"  # noqa: E731
    return Case(reverse("study-stage", args=[audited.study_id, 1]), {}, "target", "12.5", "17.5", stored, to)


FORMS = {
    "InstructionsForm": instructions, "SettingsForm": settings, "StudySettingsForm": of_study,
    "QuestionsForm": questions, "CodesForm": codes,
    "RoleForm": role, "WebhookForm": webhook, "EmailForm": account, "the editor of protocol files": draft,
    "the target of an audit": target,
}  # fmt: skip


def reread(row):
    return type(row).objects.get(pk=row.pk)


def seen_on(page: str, case: Case) -> str:
    """The token of the form that has the field, and posts where it does."""
    forms = re.findall(r"<form.*?</form>", page, re.S)
    mine = [one for one in forms if f'name="{case.name}"' in one and 'name="seen"' in one and case.to in one]
    if "do" in case.sends:
        mine = [one for one in mine if f'value="{case.sends["do"]}"' in one]
    return re.search(r'name="seen" value="(.*?)"', mine[0])[1]


@pytest.mark.parametrize("of", FORMS.values(), ids=FORMS)
def test_the_second_save_is_stopped_and_shows_both(client, manager, monkeypatch, of):
    monkeypatch.setattr(connection, "check", lambda url: None)
    case = of(studies.stage(items=1, created_by=manager))

    def save(value: str, seen: str, **more: str):
        sent = {**case.sends, case.name: value, "seen": seen, **more}
        return client.post(case.to or case.page, sent, follow=True)

    old = seen_on(client.get(case.page).text, case)
    assert save(case.first, old).status_code == 200
    assert case.stored().strip() == case.first.strip()
    stopped = save(case.second, old)
    assert case.stored().strip() == case.first.strip()
    words = [case.first.split()[-1], case.second.split()[-1]] if of is not role else ["the role manager"]
    assert [word for word in words if word not in html.unescape(stopped.text)] == []
    anew = seen_on(stopped.text, case)
    save(case.second, anew, **case.decides)
    assert case.stored().strip() == case.second.strip()


def test_every_form_that_changes_what_is_stored_is_tried():
    assert {of.__name__ for of in SeenForm.__subclasses__()} == {*FORMS} - {
        "the editor of protocol files",
        "the target of an audit",
    }


@pytest.mark.parametrize(("of", "sends"), [(role, {"remove": "1"}), (draft, {"do": "discard"})])
def test_what_somebody_else_has_changed_is_not_removed_by_an_older_page(client, manager, of, sends):
    case = of(studies.stage(items=1, created_by=manager))
    old = seen_on(client.get(case.page).text, case)
    client.post(case.to or case.page, {case.name: case.first, "seen": old})
    sent = {**sends, case.name: case.second}
    stopped = client.post(case.to or case.page, {**sent, "seen": old}, follow=True)
    assert case.stored().strip() == case.first
    client.post(case.to or case.page, {**sent, "seen": seen_on(stopped.text, case)})
    with pytest.raises(ObjectDoesNotExist):
        case.stored()
