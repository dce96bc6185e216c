"""Who may what: every address of the project × GET and POST × six kinds of people, asked of the server.

The addresses come from the URL resolver, so one that nobody has written into the table fails here. All cells ask one
world, each in a savepoint.
"""

import re
from contextlib import nullcontext
from dataclasses import dataclass
from html import unescape
from http.cookies import SimpleCookie
from unittest.mock import patch

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.template.backends.django import Template
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.urls import URLPattern, get_resolver, reverse

from annotation.assignment import leases
from annotation.judging import submissions
from annotation.models import (
    Annotator,
    Flag,
    Member,
    ProtocolDraft,
    ReaderReport,
    Release,
    ReportDoor,
    Role,
    SharedResults,
    Study,
    Task,
    Webhook,
)
from annotation.protocol_files import drafts
from annotation.studies import members
from annotation.urls import MOVED
from benchmarks.generation import caption_order
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Event, Image, Job, JobState, Run
from benchmarks.permissions import may_change_benchmark
from benchmarks.records import Refused
from tests.builders import declared, imports, releases, studies, webhooks

pytestmark = pytest.mark.usefixtures("savepoint")

# `annotator` has an account without the right to manage, beside the link by which they judge; `other` owns another
# study; `nobody` is not logged in.
METHODS = ("get", "post")
PEOPLE = ("owner", "manager", "viewer", "annotator", "other", "nobody")
# + answered   - refused (403)   0 not there (404)   L asked to log in   x no such method (405)
TABLE = """
                        GET     POST
home                    ++++++  xxxxxx
help                    +++-+L  xxxxxx
help-page               +++-+L  xxxxxx
help-picture            +++-+L  xxxxxx
client                  ++++++  xxxxxx
client-file             ++++++  xxxxxx
appearance              xxxxxx  ++++++
login                   ++++++  ++++++
logout                  xxxxxx  ++++++
first-password          ++++++  ++++++
account                 +++-+L  +++-+L
account_login           ++++++  ++++++
mfa_index               +++-+L  +++-+L
mfa_list_webauthn       +++-+L  +++-+L
mfa_authenticate        ++++++  ++++++
mfa_login_webauthn      ++++++  ++++++
provider-login          xxxxxx  000000
provider-callback       000000  xxxxxx
provider-connect        xxxxxx  000-0L
saml_acs                xxxxxx  000000
saml_finish_acs         000000  xxxxxx
saml_sls                000000  xxxxxx
saml_metadata           000000  xxxxxx
provider-disconnect     xxxxxx  +++-+L
account_reauthenticate  +++-+L  +++-+L
mfa_reauthenticate      +++-+L  +++-+L
mfa_reauthenticate_webauthn +++-+L  +++-+L
mfa_activate_totp       +++-+L  +++-+L
mfa_deactivate_totp     000-0L  000-0L
mfa_add_webauthn        +++-+L  +++-+L
mfa_remove_webauthn     +++-+L  +++-+L
mfa_view_recovery_codes 000-0L  xxx-xL
mfa_generate_recovery_codes +++-+L  +++-+L
sessions-end            xxxxxx  +++-+L
user-list               -----L  -----L
user-change             xxxxxx  -----L
api-token               +++-+L  +++-+L
api-token-revoke        xxxxxx  +++-+L
image                   ++++++  xxxxxx
small-image             ++++++  xxxxxx
thumbnail               ++++++  xxxxxx
video                   ++++++  xxxxxx
instructions-image      ++++++  xxxxxx

benchmark-list          +++-+L  xxxxxx
benchmark-detail        +++-+L  xxxxxx
benchmark-archive       xxxxxx  ++---L
benchmark-settings      ++---L  ++---L
import-new              +++-+L  +++-+L
import-preview          xxxxxx  +++-0L
score-new               +++-+L  +++-+L
captions-new            +++-+L  +++-+L
ask-new                 +++-+L  +++-+L
images-new              ++---L  ++---L
corrections-new         ++---L  ++---L
item-correct            ++---L  ++---L
train-new               +++-+L  +++-+L
benchmark-models        +++-+L  xxxxxx
predictions-new         +++-+L  +++-+L
reported-new            +++-+L  +++-+L
run-delete              xxxxxx  ++---L
job-detail              +++-0L  xxxxxx
job-cancel              xxxxxx  ++--0L

join                    ++++++  ++++++
judge                   ++++++  xxxxxx
judge-consent           xxxxxx  ++++++
judge-language          xxxxxx  ++++++
judge-words             ++++++  xxxxxx
judge-offline           ++++++  xxxxxx
judge-worker            ++++++  xxxxxx
judge-accept            xxxxxx  ++++++
judge-before            ++++++  ++++++
judge-submit            xxxxxx  ++++++
judge-skip              xxxxxx  ++++++
judge-undo              xxxxxx  ++++++
judge-flag              xxxxxx  ++++++
judge-renew             xxxxxx  ++++++
judge-history           ++++++  xxxxxx
judge-leave             ++++++  ++++++
judge-return            xxxxxx  ++++++

study-list              +++-+L  xxxxxx
study-archive           xxxxxx  ++--0L
study-new               +++-+L  +++-+L
study-new-screen        +++-+L  xxxxxx
ratings-new             +++-+L  +++-+L
study-detail            +++-0L  xxxxxx
study-stages            +++-0L  xxxxxx
study-stage             +++-0L  xxxxxx
stage-live              +++-0L  xxxxxx
study-results           +++-0L  xxxxxx
study-settings          ++--0L  xxxxxx
study-disagreements     +++-0L  xxxxxx
study-blocked             +++-0L  xxxxxx
study-model-errors             +++-0L  xxxxxx
study-baseline          +++-0L  xxxxxx
study-agreement         +++-0L  xxxxxx
study-report            +++-0L  xxxxxx
study-report-json       +++-0L  xxxxxx
study-adjudicate        +++-0L  ++--0L
study-adjudicate-own    ++--0L  ++--0L
study-adjudicate-own-act ++--0L  ++--0L
study-instructions      +++-0L  ++--0L
study-assign            ++--0L  ++--0L
study-checks            ++--0L  ++--0L
study-checks-pick       ++--0L  ++--0L
study-try               ++--0L  xxxxxx
study-try-screens       ++--0L  xxxxxx
study-try-history       ++--0L  xxxxxx
study-try-act           xxxxxx  ++--0L
study-download          ++--0L  xxxxxx
study-annotators        +++-0L  xxxxxx
study-annotator         +++-0L  ++--0L
study-items             +++-0L  xxxxxx
study-item              +++-0L  xxxxxx
study-prolific          ++--0L  xxxxxx
study-pay               ++--0L  xxxxxx
study-submissions       ++--0L  xxxxxx
study-codes             xxxxxx  ++--0L
study-returned          xxxxxx  ++--0L
study-move              xxxxxx  ++--0L
stage-move              xxxxxx  ++--0L
stage-reopen            xxxxxx  ++--0L
stage-target            xxxxxx  ++--0L
study-corrected         +++-0L  xxxxxx
stage-estimate          xxxxxx  ++--0L
study-export            xxxxxx  ++--0L
study-results           +++-0L  xxxxxx
study-share             xxxxxx  ++--0L
study-score             ++--0L  ++--0L
study-ask               ++--0L  ++--0L
shared-results          ++++++  xxxxxx
unversioned-api         ++++++  ++++++
protocol-list           +++-+L  +++-+L
protocol-draft          +00-0L  +00-0L
protocol-try            +00-0L  xxxxxx
protocol-try-answers    +00-0L  xxxxxx
protocol-try-history    +00-0L  xxxxxx
protocol-try-act        xxxxxx  +00-0L
protocol-trial          +++-+L  xxxxxx
protocol-trial-history  +++-+L  xxxxxx
protocol-trial-act      xxxxxx  +++-+L
protocol-version        +++-+L  xxxxxx
release-list            +++-0L  xxxxxx
release-new             ++--0L  ++--0L
release-detail          +++-0L  xxxxxx
release-download        +++-0L  xxxxxx
release-file            +++-0L  xxxxxx
release-again           xxxxxx  ++--0L
release-discard         xxxxxx  ++--0L
report-error            ++++++  ++++++
study-reader-reports    +++-0L  ++--0L
reader-report-answer    xxxxxx  ++--0L
flag-settle             xxxxxx  ++--0L
study-settings          ++--0L  ++--0L
study-members           ++--0L  +---0L
study-member            xxxxxx  +---0L
study-delete            +---0L  +---0L
study-webhooks          ++--0L  ++--0L
webhook-detail          ++--0L  ++--0L
benchmark-webhooks      ++---L  ++---L
"""
SENT = {"act": "exclude"}  # with every POST: where the act stands in the form, an unknown one is 404 to managers too
# What the API reads below a study or a job of it is for the study's members, the rest for all staff.
OF_A_STUDY, OF_ALL_STAFF, NO_SUCH_METHOD = "+++-0L", "+++-+L", "xxx-xL"
OF_MANAGERS, OF_OWNERS = "++--0L", "+---0L"
OF_ITS_MANAGERS = "++---L"  # of a benchmark, which all staff see: who manages every study on it
# Of what does not only read: who may GET and POST.
API_COMMANDS = {
    "api-job-cancel": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-study-move": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-stage-move": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-stage-reopen": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-stage-target": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-stage-estimate": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-import-new": (NO_SUCH_METHOD, OF_ALL_STAFF),
    "api-predictions-new": (NO_SUCH_METHOD, OF_ALL_STAFF),
    "api-ratings-new": (NO_SUCH_METHOD, OF_ALL_STAFF),
    "api-corrections": (OF_ALL_STAFF, OF_ITS_MANAGERS),
    "api-upload-list": (OF_ALL_STAFF, OF_ALL_STAFF),
    **dict.fromkeys(
        [f"api-{name}-new" for name in ("score", "ask", "train", "captions", "reported")]
        + ["api-ask-estimate", "api-captions-estimate"],
        (NO_SUCH_METHOD, OF_ALL_STAFF),
    ),
    **dict.fromkeys(
        ["api-images-new", "api-run-delete", "api-benchmark-rename", "api-benchmark-archive", "api-benchmark-delete"],
        (NO_SUCH_METHOD, OF_ITS_MANAGERS),
    ),
    **dict.fromkeys(
        ["api-study-archive", "api-annotator-decide", "api-annotator-erase", "api-flag-settle"]
        + [f"api-task-{act}" for act in ("decide", "send-back", "withdraw")]
        + [f"api-stage-{act}" for act in ("screening", "known", "forget", "assign", "unassign")]
        + ["api-study-share", "api-study-score", "api-study-ask", "api-report-answer"],
        (NO_SUCH_METHOD, OF_MANAGERS),
    ),
    "api-study-settings": (OF_MANAGERS, OF_MANAGERS),
    **dict.fromkeys(["api-stage-instructions", "api-annotator-list", "api-report-list"], (OF_A_STUDY, OF_MANAGERS)),
    "api-member-list": (OF_MANAGERS, OF_OWNERS),
    **dict.fromkeys(["api-study-delete", "api-member-change", "api-member-remove"], (NO_SUCH_METHOD, OF_OWNERS)),
    "api-upload-detail": ("000-0L", NO_SUCH_METHOD),
    "api-study-list": (OF_ALL_STAFF, OF_ALL_STAFF),
    "api-protocol-list": (OF_ALL_STAFF, OF_ALL_STAFF),
    "api-study-invitations": (OF_MANAGERS, NO_SUCH_METHOD),
    "api-study-prolific": (OF_MANAGERS, OF_MANAGERS),
    "api-prolific-returned": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-export-list": (OF_A_STUDY, OF_MANAGERS),
    "api-study-runs": (OF_A_STUDY, NO_SUCH_METHOD),
    "api-export-file": (OF_MANAGERS, NO_SUCH_METHOD),
    "api-release-list": (OF_A_STUDY, OF_MANAGERS),
    "api-release-again": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-release-discard": (NO_SUCH_METHOD, OF_MANAGERS),
    "api-study-webhooks": (OF_MANAGERS, OF_MANAGERS),
    "api-benchmark-webhooks": (OF_ITS_MANAGERS, OF_ITS_MANAGERS),
    "api-webhook-detail": (OF_MANAGERS, NO_SUCH_METHOD),
    "api-webhook-events": (OF_MANAGERS, NO_SUCH_METHOD),
    **dict.fromkeys(
        [f"api-webhook-{act}" for act in ("change", "secret", "pause", "test", "again", "delete")],
        (NO_SUCH_METHOD, OF_MANAGERS),
    ),
}


@dataclass(frozen=True)
class World:
    study: Study
    annotator: Annotator
    image: Image
    run: Run
    flag: Flag
    export: Job
    release: Release
    draft: ProtocolDraft
    webhook: Webhook
    people: dict[str, User]


def account(name: str, **rights) -> User:
    return User.objects.create_user(name, password="x", **rights)


@pytest.fixture(scope="module")
def world(module_world) -> World:
    people = {name: account(name, is_staff=name != "annotator") for name in PEOPLE[:-1]}
    study = studies.study(items=2, name="Seen by members", created_by=people["owner"])
    for role in (Role.MANAGER, Role.VIEWER):
        members.add(study=study, user=people[role], role=role, by="test")
    studies.study(created_by=people["other"])
    annotator, image = studies.annotator(study), studies.image()
    for folder in ("served", "small", "thumbnails", "instructions"):
        path = module_world / folder / image.opaque[:2] / f"{image.opaque}.jpg"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"picture")
    default_storage.save(image.video_path, ContentFile(b"video"))
    lease = leases.hold(annotator=annotator, stage=study.stages.get(), wanted=1)[0]
    submissions.flag(annotator=annotator, token=lease.token, reason="Odd")
    export = jobs.queue_job(kind="export", title="Export", params={"study": study.pk}, by="test")
    kept = default_storage.save("exports/split.zip", ContentFile(b"zip"))
    counts = dict.fromkeys(("kept", "dropped", "not_asked", "open", "imported"), 0)
    export.report = {"file": kept, "bytes": 3, "counts": counts, "download": "/the-zip"}
    export.state, export.finished_at = JobState.DONE, export.created_at
    export.save()
    people["superuser"] = User.objects.create_superuser("root", password="x")
    run = Run.objects.create(benchmark=study.benchmark, origin="reported", kind="bivlc", title="CLIP")
    release = releases.by_hand(study)
    declared.published("verify")
    draft = drafts.start_draft(start="verify", user=people["owner"], by="test", benchmark=study.benchmark)
    webhook = webhooks.webhook(study)
    ReportDoor.objects.create(study=study)
    SharedResults.objects.create(study=study)
    ReaderReport.objects.create(study=study, key="item-0", text="A typo.")
    return World(study, annotator, image, run, Flag.objects.get(), export, release, draft, webhook, people)


@pytest.fixture(scope="module")
def sessions(world) -> dict[str, SimpleCookie]:
    clients = {name: Client() for name in world.people}
    for name, user in world.people.items():
        clients[name].force_login(user)
    return {name: client.cookies for name, client in clients.items()}


@pytest.fixture
def clients(sessions) -> dict[str, Client]:
    """A client for each: logging out ends its session for good, whatever is rolled back."""
    found = {name: Client() for name in (*PEOPLE, "superuser")}
    for name, cookies in sessions.items():
        found[name].cookies.update(cookies)
    return found


def addresses(patterns=None, before: str = "") -> dict[str, str]:
    """Each address's route by its name; what has no name stands under its route. Addresses that have moved only lead to
    the ones of today (test_overview.py).
    """
    found = {}
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if pattern in MOVED:
            continue
        route = before + str(pattern.pattern)
        inner = {pattern.name or route: route} if isinstance(pattern, URLPattern) else {}
        found |= inner or addresses(pattern.url_patterns, route)
    return found


EVERY_ROUTE = addresses()
TOLD = {row.split()[0]: row.split(maxsplit=1)[1] for row in TABLE.splitlines()[2:] if row}
ROUTES = {name: route for name, route in EVERY_ROUTE.items() if name in TOLD or route.startswith("api/v1/")}


def expected(name: str) -> str:
    if not ROUTES[name].startswith("api/v1/"):
        return TOLD[name]
    of_a_study = ROUTES[name].removeprefix("api/v1/").startswith(("studies/<", "jobs/<", "releases/<"))
    reads = OF_A_STUDY if of_a_study else OF_ALL_STAFF
    return "  ".join(API_COMMANDS.get(name, (reads, NO_SUCH_METHOD)))


def address(name: str, world: World) -> str:
    """The address with the world's things in it."""
    study, member = world.study, world.study.members.get(role=Role.VIEWER)
    kinds = {"studies": study, "benchmarks": study.benchmark, "jobs": world.export, "flags": world.flag}
    kinds |= {"releases": world.release, "protocols": world.draft, "webhooks": world.webhook}
    kinds |= {"reports": ReaderReport.objects.get()}
    segment = ROUTES[name].removeprefix("api/v1/").partition("/")[0]
    values = {
        "pk": kinds[segment].pk if segment in kinds else 0, "position": 1, "number": world.annotator.number,
        "act": "left", "member": member.pk, "job": world.export.pk, "run": world.run.pk, "invite": study.invite,
        "token": world.annotator.token, "opaque": world.image.opaque, "ending": "mp4", "page": "guide/imports",
        "name": {"help-picture": "study-light.png", "client-file": "notebook.ipynb"}.get(name, "README.md"),
        "task": Task.objects.filter(stage__study=study).first().pk,
        "language": "es", "seed": 7, "do": "renew", "question": "verify", "benchmark": study.benchmark_id,
        "version": "verify@1", "door": study.report_door.token,
        "shared": study.shared_results.token, "rest": "studies/", "slug": "lab", "organization_slug": "lab",
    }  # fmt: skip
    return reverse(name, kwargs={key: values[key] for key in re.findall(r"(\w+)>", ROUTES[name])})


def cell(client: Client, method: str, url: str, drawn: bool) -> str:
    """Unless its templates are `drawn`, a page is blank: test_reads_write_nothing draws what an owner reads, and the
    test of names what a viewer reads."""
    with transaction.atomic(), nullcontext() if drawn else patch.object(Template, "render", return_value=""):
        answer = client.get(url) if method == "get" else client.post(url, SENT)
        transaction.set_rollback(True)
    return sign(answer, url)


def sign(answer, url: str) -> str:
    asked = answer.status_code == 302 and answer.url.startswith(f"{reverse('login')}?next=")
    refused = answer.wsgi_request.user.is_anonymous and answer.status_code in {401, 403}
    if asked or (refused and url.startswith("/api/")):
        return "L"
    assert answer.status_code < 500
    return {403: "-", 404: "0", 405: "x"}.get(answer.status_code, "+")


def test_every_address_is_in_the_table():
    missing, gone = sorted(EVERY_ROUTE.keys() - ROUTES.keys()), sorted(TOLD.keys() - EVERY_ROUTE.keys())
    assert not missing, f"Say in TABLE who may GET and POST {', '.join(missing)}."
    assert not gone, f"TABLE has addresses that are gone: {', '.join(gone)}."


def asked(method: str, row: str) -> dict[str, str]:
    """What each of those is told who can be told apart. Where `other` may what an owner may, no one's part in a study
    is looked at; where not, a superuser may what an owner may, and a manager what a viewer may. What an owner reads is
    asked in test_reads_write_nothing."""
    told = dict(zip(PEOPLE, row, strict=True)) | {"superuser": row[0]}
    left = ["owner"] if method == "get" and row[0] != "x" else []
    if told["other"] == row[0]:
        left += ["manager", "viewer", "superuser"]
    elif told["viewer"] == "+":
        left.append("manager")
    return {who: cell for who, cell in told.items() if who not in left}


@pytest.mark.parametrize("name", ROUTES)
def test_each_may_what_the_table_says(world, clients, name):
    url = address(name, world)
    for method, row in zip(METHODS, expected(name).split(), strict=True):
        told = asked(method, row)
        found = {who: cell(clients[who], method, url, drawn=who in ("owner", "nobody")) for who in told}
        assert found == told, f"{method} {name}"


# What every command of the API refuses, of those who may


def refused(client: Client, url: str, key: str | None, sent: dict) -> tuple[int, str, list]:
    answer = client.post(url, headers={} if key is None else {"Idempotency-Key": key}, **sent)
    body = answer.json()
    assert list(body) == ["code", "detail", "errors"]
    return answer.status_code, body["code"], [(one["code"], one["field"]) for one in body["errors"]]


@pytest.mark.parametrize("name", [name for name, (_, posts) in API_COMMANDS.items() if posts != NO_SUCH_METHOD])
def test_a_command_refuses_what_it_does_not_know_and_a_request_without_a_key(world, clients, name):
    client, url, events = clients["superuser"], address(name, world), Event.objects.count()
    files = name in {"api-import-new", "api-predictions-new", "api-ratings-new"}
    for kind in ("application/json", *([MULTIPART_CONTENT] if files else [])):
        sent = {"data": {"colour": "red"}, "content_type": kind}
        status, code, errors = refused(client, url, "a", sent)
        assert (status, code) == (400, "INVALID") and ("UNKNOWN_FIELD", "colour") in errors
        assert refused(client, url, None, sent) == (400, "IDEMPOTENCY_KEY_MISSING", [])
    assert refused(client, f"{url}?colour=red", "a", {})[:2] == (400, "INVALID")
    assert Event.objects.count() == events


# What the table cannot say


@pytest.mark.parametrize("name", ["study-list", "api-study-list"])
@pytest.mark.parametrize("who, sees", [("owner", 1), ("viewer", 1), ("other", 0)])
def test_lists_show_ones_own_studies(world, clients, name, who, sees):
    page = clients[who].get(reverse(name)).content.decode()
    assert (world.study.name in page) == sees


def test_who_is_a_member_no_more_finds_nothing(world, clients):
    members.remove(member=Member.objects.get(study=world.study, user=world.people["viewer"]), by="test")
    assert clients["viewer"].get(reverse("study-detail", args=[world.study.pk])).status_code == 404


def test_a_member_whose_rights_were_taken_is_refused(world, clients):
    User.objects.filter(pk=world.people["owner"].pk).update(is_staff=False)
    assert clients["owner"].get(reverse("study-detail", args=[world.study.pk])).status_code == 403


def test_a_refusal_says_what_it_takes(world, clients):
    for name in ("study-prolific", "study-members"):
        answer = clients["viewer"].get(reverse(name, args=[world.study.pk]))
        assert "You are a viewer of this study. Only its managers and owners can do this." in answer.text


def test_an_import_is_its_makers(world, clients):
    job = jobs.queue_job(kind="import", title="Import of cups", params={}, by="test", created_by=world.people["viewer"])
    found = {name: clients[name].get(reverse("job-detail", args=[job.pk])).status_code for name in PEOPLE[:-1]}
    assert found == {"owner": 404, "manager": 404, "viewer": 200, "annotator": 403, "other": 404}
    listed = {name: job.title in clients[name].get(reverse("benchmark-list")).text for name in ("viewer", "owner")}
    assert listed == {"viewer": True, "owner": False}


@pytest.mark.parametrize("kind", ["figures", "estimate"])
def test_figures_that_a_worker_computes_are_the_members(world, clients, kind):
    params = {"stage": world.study.stages.get().pk, "kind": "page", "key": ""}
    job = jobs.queue_job(kind=kind, title="Figures", params=params, by="app")
    asked = {name: clients[name].post(reverse("job-cancel", args=[job.pk])).status_code for name in PEOPLE[:-1]}
    assert asked == {"owner": 302, "manager": 302, "viewer": 403, "annotator": 403, "other": 404}


HIDDEN = {  # of a study's pages: what only managers find there
    "study-detail": ["study-move", "flag-settle", "study-settings"],
    "study-stage": ["stage-move", "study-checks", "study-try"],
    "study-annotators": ["study-prolific"],
    "study-results": ["study-export", "release-new"],
}


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("who", ["manager", "viewer"])
def test_the_pages_of_a_study_show_what_one_may(world, clients, who, name):
    shown = clients[who].get(address(name, world)).text
    found = {link: address(link, world) in shown for link in HIDDEN[name]}
    assert found == dict.fromkeys(HIDDEN[name], who == "manager")
    assert (world.study.invite in shown) == (who == "manager" and name == "study-annotators")


@pytest.mark.parametrize("name", ["study-instructions", "study-adjudicate", "study-disagreements"])
def test_viewers_find_no_form_of_managers(world, clients, name):
    pages = {who: clients[who].get(address(name, world)).text for who in ("manager", "viewer")}
    assert '<button name="do"' not in pages["viewer"] and 'class="primary"' not in pages["viewer"]
    assert name == "study-disagreements" or 'class="primary"' in pages["manager"]


def test_right_answers_are_for_managers(world, clients):
    stage = world.study.stages.get()
    world.study.stages.update(comprehension=[{"question": "Why?", "options": ["zebra"], "right": 0}])
    stage.tasks.update(gold=["candidate-2"])
    pages = {name: address(name, world) for name in ("api-task-list", "api-stage-detail")}
    told = {who: {name: clients[who].get(url).text for name, url in pages.items()} for who in PEOPLE[:3]}
    for who, found in told.items():
        assert ('"gold":["candidate-2"]' in found["api-task-list"]) == (who != "viewer")
        assert ("zebra" in found["api-stage-detail"]) == (who != "viewer")
    assert '"gold":null' in told["viewer"]["api-task-list"]


@pytest.mark.parametrize("who", ["manager", "viewer"])
def test_a_download_is_shown_to_those_who_may(world, clients, who):
    for name in ("job-detail", "study-results"):
        shown = clients[who].get(address(name, world)).text
        assert ('href="/the-zip"' in shown) == (who == "manager"), name


def test_names_and_prolific_ids_are_for_managers(world, clients):
    world.study.annotators.update(name="Grace Hopper", prolific_pid="5f1e00000000000000000001")
    for name in (name for name, route in ROUTES.items() if "studies/<" in route):
        answer = clients["viewer"].get(address(name, world))
        told = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert b"Grace Hopper" not in told and b"5f1e000" not in told, name


# Who changes a benchmark

CREATORS = {"own": "other", "another's": "owner", "nobody's": None}


@pytest.mark.parametrize(
    ("whose", "managed", "foreign", "may"),
    [
        ("own", 0, 0, True),
        ("own", 1, 0, True),
        ("own", 0, 1, False),  # a study on it that they have no role in
        ("own", 1, 1, False),
        ("another's", 0, 0, False),
        ("another's", 1, 0, False),  # else a study on it would be enough to take it over
        ("nobody's", 0, 0, False),
        ("nobody's", 1, 0, True),
        ("nobody's", 1, 1, False),
    ],
)
def test_who_may_change_a_benchmark(world, whose, managed, foreign, may):
    user, creator = world.people["other"], CREATORS[whose]
    benchmark = studies.benchmark()
    Benchmark.objects.filter(pk=benchmark.pk).update(created_by=creator and world.people[creator])
    benchmark.refresh_from_db()
    for number in range(managed + foreign):
        study = studies.study(benchmark=benchmark)
        members.add(study=study, user=user, role=Role.MANAGER if number < managed else Role.VIEWER, by="test")
    assert may_change_benchmark(user, benchmark) == may
    assert may_change_benchmark(world.people["superuser"], benchmark)
    added = Run.objects.create(benchmark=benchmark, origin="reported", kind="bivlc", title="CLIP")
    client = Client()
    client.force_login(user)
    pages = [reverse(name, args=[benchmark.pk]) for name in ("benchmark-detail", "captions-new", "benchmark-settings")]
    shown = "".join(client.get(page).text for page in pages)
    hook = webhooks.webhook(benchmark=benchmark)
    listed, change = reverse("benchmark-webhooks", args=[benchmark.pk]), reverse("images-new", args=[benchmark.pk])
    may_webhooks = may or whose == "own"  # a study that somebody else makes on it does not lock them out of these
    assert [url in shown for url in (listed, change)] == [may_webhooks, may]
    assert client.get(change).status_code == (200 if may else 403)
    of_webhooks = [listed, reverse("webhook-detail", args=[hook.pk]), reverse("api-webhook-detail", args=[hook.pk])]
    of_webhooks.append(reverse("api-benchmark-webhooks", args=[benchmark.pk]))
    assert {client.get(url).status_code for url in of_webhooks} == {200 if may_webhooks else 403}
    for do in ("pause", "delete"):
        answer = client.post(reverse("webhook-detail", args=[hook.pk]), {"do": do})
        assert answer.status_code == (302 if may_webhooks else 403)
    assert benchmark.webhooks.exists() != may_webhooks
    delete = reverse("run-delete", args=[benchmark.pk, added.pk])
    assert (delete in client.get(reverse("benchmark-models", args=[benchmark.pk])).text) == may
    assert client.post(delete).status_code == (302 if may else 403)
    mine = Run.objects.create(benchmark=benchmark, origin="reported", kind="bivlc", title="Mine", created_by=user)
    assert client.post(reverse("run-delete", args=[benchmark.pk, mine.pk])).status_code == 302


@pytest.mark.parametrize("when", ["page", "api", "captions", "run"])
def test_nobody_imports_into_a_study_that_others_run(world, tmp_path, when):
    """Refused at once, or by the worker if the study came later."""
    user, items = world.people["other"], [imports.item(7)]
    benchmark = studies.benchmark()
    Benchmark.objects.filter(pk=benchmark.pk).update(created_by=user)
    path, images = imports.manifest(tmp_path, items), imports.archive(tmp_path, ["7.jpg", "7-0.jpg"])
    client = Client()
    client.force_login(user)
    early = imports.queued(path, images, name=benchmark.name, created_by=user)
    study, before = studies.study(benchmark=benchmark), Task.objects.count()
    if when == "run":
        refused = imports.run(early).problems[0]["advice"]
    elif when == "page":
        data = SimpleUploadedFile("items.jsonl", path.read_bytes())
        sent = {"name": benchmark.name, "format": "jsonl", "data": data, "text_only": "on"}
        answer = client.post(reverse("import-new"), sent)
        assert answer.status_code == 422
        refused = unescape(answer.text)
    elif when == "api":
        body = {"name": benchmark.name, "items": [imports.item(7, images=[])]}
        answer = client.post(
            reverse("api-import-new"), body, content_type="application/json", headers={"Idempotency-Key": "a"}
        )
        assert answer.status_code == 400
        refused = str(answer.json())
    else:
        order = caption_order.CaptionOrder(benchmark.name, ["swap-object"], "m", "http://127.0.0.1:9/v1")
        with patch.object(caption_order, "check_order", lambda benchmark, order: order), pytest.raises(Refused) as why:
            caption_order.queue_captions(benchmark=benchmark, order=order, by="test", created_by=user)
        refused = why.value.problems[0].advice
    assert f"A study that you don’t manage uses “{benchmark}”" in refused
    assert (study.stages.get().tasks.count(), Task.objects.count()) == (1, before)
    assert benchmark.items.count() == 1
