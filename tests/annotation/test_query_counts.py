"""Every page and every list of the API takes as many queries for two rows of each of its things as for one.

The addresses come from the URL resolver: one that is neither among the `PAGES` nor among those without rows (`NO_ROWS`)
fails here. All are asked once of a small world and once of a larger one, which are made once for all tests.
"""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection, transaction
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.checks import attention_checks, gold_items
from annotation.checks.parsing import Known
from annotation.designs import presets
from annotation.designs.plan import StagePlan
from annotation.models import Flag, Kind, ProtocolDraft, Role, Study, StudyTemplate
from annotation.models.reader_reports import Answered
from annotation.participants import lifecycle as participant_lifecycle
from annotation.protocol_files import drafts
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.reader_reports import reports as reader_reports
from annotation.studies import members
from benchmarks.corrections.correct import Change, correct
from benchmarks.jobs import jobs
from benchmarks.models import Action, Correction, JobState, TrainedModel
from benchmarks.runs import figures as run_figures
from tests.annotation.api.reading import adjudicate
from tests.annotation.dashboard.test_human_baseline_page import answered
from tests.annotation.test_rights import ROUTES, expected
from tests.builders import annotators, predictions, releases, webhooks
from tests.builders import studies as builders_studies

ONE, MORE = 1, 2
# What stands there once, however much there is: `judge-before` is one screen, or the questions, which are one row. The
# desk has rows only where the answers are level: adjudication/test_disagreement_pages.py counts its queries.
NO_ROWS = {
    "unversioned-api", "api-server", "api-run-detail", "api-paired-runs", "api-task-detail", "api-upload-list",
    "api-stage-instructions", "home", "login", "account_login", "logout", "first-password", "api-token", "image",
    "mfa_index", "mfa_list_webauthn", "mfa_authenticate", "mfa_login_webauthn", "provider-callback",
    "saml_finish_acs", "saml_sls", "saml_metadata",
    "account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_activate_totp",
    "mfa_deactivate_totp", "mfa_add_webauthn", "mfa_remove_webauthn", "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes", "small-image", "thumbnail", "video", "instructions-image", "api-schema", "join",
    "judge", "judge-before", "judge-leave", "judge-words", "judge-offline", "judge-worker", "study-download",
    "study-instructions", "study-new-screen", "import-new", "study-try", "study-try-history", "study-adjudicate-own",
    "study-adjudicate-own-act", "job-detail", "api-benchmark-detail",
    "api-job-detail", "api-stage-protocol", "predictions-new", "reported-new", "captions-new", "ask-new",
    "study-score", "study-ask", "ratings-new", "report-error", "images-new", "study-delete", "release-download",
    "release-file", "client", "client-file", "benchmark-settings", "study-stages", "shared-results", "study-adjudicate",
    "help", "help-page", "help-picture", "api-upload-detail", "api-export-file", "api-release-detail",
    "api-release-file", "api-release-member", "api-study-prolific", "api-webhook-detail", "protocol-try",
    "protocol-try-answers", "protocol-try-history", "protocol-trial", "protocol-trial-history",
}  # fmt: skip
# Of each page the study (of `world`) that it is asked of, or "" where it is of none; then what else it is asked for.
PAGES = {
    "benchmark-list": [""],
    "benchmark-detail": ["judged", "asked"],
    "benchmark-models": ["asked"],
    "score-new": ["asked"],
    "train-new": ["asked"],
    "judge-history": ["judged"],
    "study-list": [""],
    "study-new": ["", "?preset=bivlc", "?preset=visla-generic"],
    "study-detail": ["judged", "batches", "asked", "stages", "audited"],
    "study-stage": ["judged", "batches", "asked", "stages", "audited"],
    "stage-live": ["judged"],
    "study-settings": ["stages"],
    "study-disagreements": ["judged"],
    "study-baseline": ["asked"],
    "study-agreement": ["judged", "judged?by=pair", "judged?by=annotator", "judged?by=week"],
    "study-assign": ["named"],
    "study-checks": ["judged"],
    "study-checks-pick": ["judged", "judged?as=practice&draw=9"],
    "study-annotators": ["judged", "judged?show=all", "judged?plots", "batches"],
    "study-annotator": ["judged", "judged?show=all", "judged?show=checks"],
    "study-items": ["judged", "judged?q=item&outcome=dropped", "stages"],
    "study-item": ["judged", "stages"],
    "study-pay": ["judged"],
    "study-prolific": ["stages"],
    "study-submissions": ["judged"],
    "study-report": ["judged"],
    "study-blocked": ["named"],
    "study-model-errors": ["asked?which=all"],
    "study-results": ["judged", "asked"],
    "study-corrected": ["audited", "audited?csv=corrected"],
    "study-try-screens": ["judged?end"],
    "account": [""],
    "user-list": [""],
    "protocol-list": [""],
    "protocol-draft": [""],
    "protocol-version": [""],
    "study-report-json": ["judged"],
    "study-members": ["judged"],
    "study-reader-reports": ["corrected"],
    "corrections-new": ["corrected"],
    "item-correct": ["corrected"],
    "study-webhooks": ["judged"],
    "benchmark-webhooks": ["judged"],
    "webhook-detail": ["judged"],
    "release-list": ["judged"],
    "release-new": ["stages"],
    "release-detail": ["judged"],
    "api-benchmark-list": [""],
    "api-item-list": ["judged"],
    "api-study-list": [""],
    "api-study-detail": ["judged", "stages"],
    "api-stage-list": ["stages"],
    "api-stage-detail": ["judged"],
    "api-study-figures": ["judged", "judged?pairs=true"],
    "api-study-agreement": ["judged"],
    "api-task-list": ["judged"],
    "api-judgment-list": ["judged"],
    "api-annotator-list": ["judged"],
    "api-adjudication-list": ["judged"],
    "api-flag-list": ["judged"],
    "api-study-invitations": ["stages"],
    "api-export-list": ["judged"],
    "api-release-list": ["judged"],
    "api-study-webhooks": ["judged"],
    "api-benchmark-webhooks": ["judged"],
    "api-corrections": ["corrected"],
    "api-webhook-events": ["judged"],
    "api-protocol-list": [""],
    "api-run-list": ["asked"],
    "api-study-runs": ["asked"],
    "api-study-results": ["asked"],
    "api-job-list": [""],
    "api-member-list": ["judged"],
    "api-study-settings": ["stages"],
    "api-report-list": ["corrected"],
}
ASKED = [(name, of) for name, asked in PAGES.items() for of in asked]


def answers_get(name: str) -> bool:
    return not expected(name).startswith("x")


def judged(rows: int) -> Study:
    """So many items adjudicated and that disagree, annotators, flags, checks, practice, members, exports, releases."""
    study = builders_studies.study(items=2 * rows, overlap=rows + 1, check_rate=0.5, pay_per_hour=12)
    stage = study.stages.get()
    known = {item: ["candidate-1"] for item in builders_studies.benchmark(items=rows).items.all()}
    attention_checks.set_checks(stage=stage, answers=known, by="test")
    practice = builders_studies.benchmark(items=rows).items.all()
    known = {item: Known(("candidate-1",), "Look.") for item in practice}
    gold_items.set_known(kind=Kind.PRACTICE, stage=stage, known=known, by="test")
    for number in range(rows + 1):
        work(builders_studies.annotator(study, prolific_pid=f"{number:024x}"), stage, f"candidate-{number}")
    boss = User.objects.create_superuser(f"boss {study.pk}")
    for task in stage.tasks.filter(kind="judge").order_by("pk").select_related("stage__study")[:rows]:
        adjudicate(task, boss)
    for who in study.annotators.all():
        participant_lifecycle.keep(annotator=who, reason="x", by=f"user:{boss.pk}")
    for number in range(rows):
        user = User.objects.create_user(f"member {study.pk} {number}", is_staff=True)
        members.add(study=study, user=user, role=Role.VIEWER, by="test")
        export(study, boss)
        releases.by_hand(study, f"1.{number}")
        releases.failed(study, f"2.{number}")
        webhooks.webhook(benchmark=study.benchmark)
        hook = webhooks.webhook(study)
    webhooks.waiting(hook, rows)
    return study


def work(who, stage, answer: str) -> None:
    """They judge all that there is, and report one screen."""
    while builders_studies.judgment(who, stage, answer, active_ms=4000):
        pass
    Flag.objects.create(lease=who.leases.filter(task__kind="judge").first(), reason="A typing error.")


def export(study: Study, by: User) -> None:
    job = jobs.queue_job(kind="export", title="Export", params={"study": study.pk}, by="test", created_by=by)
    counts = dict.fromkeys(("kept", "dropped", "not_asked", "open", "imported"), 0)
    job.report, job.state = {"counts": counts, "bytes": 3, "download": "/"}, JobState.DONE
    job.finished_at = job.created_at
    job.save()
    jobs.queue_job(kind="import", title="Import", params={}, by="test", created_by=by)


def batches(rows: int) -> Study:
    study = builders_studies.study(items=rows, strategy="batches", batch_size=1)
    for _ in range(rows):
        given = builders_studies.judgment(builders_studies.annotator(study), study.stages.get(), "none")
        Flag.objects.create(lease=given.lease, reason="The picture is upside down.")
    return study


def named(rows: int) -> Study:
    study = builders_studies.study(items=rows, strategy="named")
    for number in range(rows):
        builders_studies.annotator(study, name=f"Ana {number}")
    return study


def stages(rows: int) -> Study:
    """Each takes what the one before keeps."""
    names = [f"step {number}" for number in range(rows + 1)]
    plans = [
        StagePlan("bivlc-choose", name, source=source, apart_from=[], settings={"carries": "negative"})
        for name, source in zip(names[1:], ["", *names[1:-1]], strict=True)
    ]
    study = builders_studies.study(items=2, stages=plans)
    annotators.finish([annotators.Worker(study, lambda dice, task, protocol: task.options[0], 1)])
    return study


def audited(rows: int) -> Study:
    """So many models beside an audit whose items are all judged."""
    benchmark = annotators.benchmark_of_pairs(2 * rows)
    settings = {"strategy": "audit", "target_half_width": 0.001}
    study = builders_studies.study(benchmark=benchmark, stages=[StagePlan("verify", settings=settings)])
    who = builders_studies.annotator(study)
    while builders_studies.judgment(who, study.stages.get(), "yes"):
        pass
    scored(study, rows)
    return study


def corrected(rows: int) -> Study:
    """So many captions and pictures of one item corrected, and readers' reports of it, open and answered."""
    study = builders_studies.study(items=2)
    item = study.benchmark.items.get(position=1)
    image = item.item_images.get(role="positive").image
    pictures = {"action": Action.IMAGE, "place": "positive", "old_image": image, "new_image": image}
    for number in range(rows):
        user = User.objects.create_user(f"corrector {number}", is_staff=True)
        words = {"place": "caption-negative-0", "new": f"A green cup {number}.", "reason": "It is green."}
        change = Change(item=item.key, action=Action.CAPTION, **words)
        correct(benchmark=study.benchmark, changes=[change], by="test", made_by=user)
        Correction.objects.create(item=item, reason="Blurred.", made_by=user, **pictures)
        reports = [reader_reports.report(study=study, key=item.key, text=f"It is red {number}.") for _ in "ab"]
        reader_reports.answer(report=reports[0], answer=Answered.DISMISSED, by="test", answered_by=user)
    return study


def scored(study: Study, rows: int) -> None:
    """By so many models that see images, so many on the study's result, and so many that see none."""
    of = {item: predictions.bivlc(right=False) for item in study.benchmark.items.all()}
    for _ in range(rows):
        predictions.model(study.benchmark, of)
        predictions.model(study.benchmark, of, study=study.pk)
        run_figures.compute(predictions.model(study.benchmark, of, blind=True))


def questions(rows: int) -> None:
    """So many published protocols and versions of one, each with a study, drafts, and their author's passkeys and
    sessions."""
    user = User.objects.create_superuser("writer")
    text = library.text_of("verify")
    for number in range(rows):
        Authenticator.objects.create(user=user, type="webauthn", data={"name": f"Key {number}"})
        session = Session.objects.create(
            session_key=f"session-{number}", expire_date=timezone.now() + timedelta(days=1)
        )
        UserSession.objects.create(user=user, session_key=session.session_key, ip="192.0.2.7")
        drafts.start_draft(start="verify", user=user, by="test")
        version = publish(text=text.replace("name: verify", f"name: verify-{number}"), by="test")
        publish(text=text + "\n" * number, by="test")
        stage = presets.single_stage("verify@1").stages[0]
        builders_studies.study(items=1, stages=[stage], name=f"Asked {version}")


def world(rows: int) -> dict[str, Study]:
    asked = answered(items=rows, people=rows, batch_items=1)
    scored(asked, rows)
    for _ in range(rows):
        builders_studies.benchmark(items=1)
    for number in range(rows):
        setup = {"study": {"pay_per_hour": "12"}, "stages": [{"protocol": "verify"}]}
        StudyTemplate.objects.create(name=f"Ours {number}", setup=setup)
        own = dict.fromkeys(("name", "key", "path"), f"model-{number}")
        facts = {"hyperparameters": {"epochs": 1, "image_epochs": 0}, "counts": {"train": 12}, "seconds": 60}
        TrainedModel.objects.create(**own, **facts, preset="negclip", accuracy=0.9, epoch=1)
    questions(rows)
    return {
        "asked": asked,
        **{makes.__name__: makes(rows) for makes in (judged, batches, named, stages, audited, corrected)},
    }


def address(name: str, of: str, studies: dict[str, Study]) -> str:
    called, _, query = of.partition("?")
    study = studies.get(called)
    segment = ROUTES[name].removeprefix("api/v1/").partition("/")[0]
    values = {"position": 1, "number": 1, "seed": 7, "version": "verify@1"}
    if segment == "protocols":
        values["pk"] = ProtocolDraft.objects.earliest("pk").pk
    if segment == "webhooks" and study is not None:
        values["pk"] = study.webhooks.latest("pk").pk
    elif study is not None:
        keys = {"studies": study.pk, "benchmarks": study.benchmark_id}
        first = study.annotators.order_by("number").first()
        if segment == "releases":
            keys[segment] = study.releases.get(version="1.0").pk
        values |= {"pk": keys.get(segment), "token": first.token if first else ""}
    url = reverse(name, kwargs={key: value for key, value in values.items() if f"{key}>" in ROUTES[name]})
    return f"{url}?{query}" if query else url


def counted(rows: int) -> dict[tuple[str, str], tuple[list[str], int]]:
    """The queries of each page and how long it is, in a world that is gone afterwards."""
    with transaction.atomic():
        studies, client = world(rows), Client()
        client.force_login(User.objects.get(username="writer"))
        client.get(reverse("study-list"))
        found = {}
        for name, of in ASKED:
            url = address(name, of, studies)
            with CaptureQueriesContext(connection) as queries:
                answer = client.get(url)
            assert answer.status_code == 200, f"{name} {of}: {answer.status_code}"
            found[name, of] = [query["sql"] for query in queries], len(answer.content)
        transaction.set_rollback(True)
    return found


@pytest.fixture(scope="module")
def queries(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[dict[int, dict]]:
    with django_db_blocker.unblock(), override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media")):
        yield {rows: counted(rows) for rows in (ONE, MORE)}


def test_every_page_is_counted_or_has_no_rows():
    answering = {name for name in ROUTES if answers_get(name)}
    missing, gone = sorted(answering - NO_ROWS - PAGES.keys()), sorted(PAGES.keys() - (answering - NO_ROWS))
    assert not missing, f"Put {', '.join(missing)} into PAGES, or into NO_ROWS if the page has no rows."
    assert not gone, f"PAGES has what is gone, or stands in NO_ROWS too: {', '.join(gone)}."


@pytest.mark.parametrize(("name", "of"), ASKED)
def test_it_takes_as_many_queries_for_two_rows_as_for_one(queries, db, name, of):
    (few, short), (many, long) = (queries[rows][name, of] for rows in (ONE, MORE))
    assert len(few) == len(many), "\n".join(sql[:300] for sql in many)
    assert long > short, "there are no more rows"
