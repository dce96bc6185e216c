"""Exchange with Prolific: links, codes, submissions to approve, and reading its export.

A manager carries the files by hand: nothing is sent anywhere.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import unquote

from django.db import transaction

from annotation.models import Study
from annotation.participants import lifecycle
from annotation.participants.roster import Participant
from benchmarks import audit
from benchmarks.formats import csv_text
from benchmarks.formats.text import WORKBOOK, is_workbook

PARAMETERS = {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}", "STUDY_ID": "{{%STUDY_ID%}}", "SESSION_ID": "{{%SESSION_ID%}}"}
# Prolific's IDs are 24 hexadecimal digits; a lab's own may differ. "null", "undefined" and PROLIFIC_PID don't have a
# digit, an empty UUID has only zeros, and ID1 and your-id-1 are words with one short number.
ID = re.compile(r"(?=.*[1-9])(?!(?=.*[A-Za-z]{2})[A-Za-z-]*\d{1,4}[A-Za-z-]*$)[0-9A-Za-z-]{1,64}")
PLACEHOLDER = re.compile(r"\{[^{}\"]+\}|\[\w[^][\"]*\]|<[^<>]+>|%\w+%|\$[A-Za-z_]")  # {{a}}, ${a}, [a], <a>, %a%, $a
CODES = ("completion_code", "screened_out_code", "no_consent_code")
GONE = {"RETURNED", "TIMED-OUT"}  # Prolific's statuses of submissions that end without an answer
COLUMNS = (
    "participant_id", "submission_id", "prolific_study", "pseudonym", "state", "code_given", "answers",
    "answers_that_count", "skipped", "active_minutes", "minutes_first_to_last", "checks", "checks_right", "pay_due",
    "pay_first_to_last", "currency", "suggestion", "reasons",
)  # fmt: skip
IDS = ("participant id", "prolific pid")
SUBMISSIONS = ("submission id", "session id")


class Unreadable(ValueError):
    """The file is not Prolific's export; the message names what is missing."""


def with_parameters(link: str) -> str:
    """Return the link to paste at Prolific, which fills in the three parameters."""
    return f"{link}?{'&'.join(f'{name}={value}' for name, value in PARAMETERS.items())}"


def parameter(name: str) -> str:
    """Return the name as in PARAMETERS, ignoring case and an HTML ampersand (`&amp;study_id=`) that tools add."""
    return re.sub(r"^(?:amp;|\W)+", "", name).upper()


def is_placeholder(value: str) -> bool:
    """Return whether a value in a link, Prolific's or another platform's, was never filled in."""
    return bool(PLACEHOLDER.search(unquote(value)))


def is_filled_in(given: Mapping[str, str]) -> bool:
    """Return whether all a link's parameters (of PARAMETERS) are IDs, and the participant's is one of them."""
    return not given or ("PROLIFIC_PID" in given and all(ID.fullmatch(value) for value in given.values()))


@transaction.atomic
def set_codes(*, study: Study, by: str, **codes: str) -> Study:
    """Set every field of CODES, each to a different code."""
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    before = {name: getattr(study, name) for name in CODES}
    if codes != before:
        for name in CODES:
            setattr(study, name, codes[name])
        study.save(update_fields=CODES)
        audit.record(by=by, verb="set codes", subject=study, before=before)
    return study


# Submissions to approve


def submissions(study: Study, found: Iterable[Participant]) -> str:
    """Return one CSV row per submission; `found` has the study's submissions (roster.py).

    A person approves or rejects at Prolific.
    """
    return csv_text.table([COLUMNS, *map(partial(_row, study.currency), found)])


def _row(currency: str, one: Participant) -> tuple[object, ...]:
    who = one.annotator
    return (
        who.prolific_pid, one.session, one.prolific_study, who.pseudonym, one.state, one.code, one.answers,
        one.counted, one.avoided.skipped, f"{one.active_minutes:.1f}", f"{one.span_minutes:.1f}", one.checks,
        one.checks_right, f"{one.pay:.2f}", f"{one.span_pay:.2f}", currency, "approve" if one.approve else "look",
        "; ".join(one.reasons),
    )  # fmt: skip


# Prolific's export


@dataclass(frozen=True, slots=True)
class Submission:
    participant: str
    session: str
    status: str


@dataclass(slots=True)
class Report:
    """The result of reading an export: submissions by status, who has left, and unknown ids."""

    statuses: Counter = field(default_factory=Counter)
    left: list[str] = field(default_factory=list)
    older: int = 0  # submissions replaced by a newer one of the same participant
    unknown: list[str] = field(default_factory=list)


def read(data: bytes) -> list[Submission]:
    """Parse Prolific's export of a study's submissions. Raises Unreadable."""
    if is_workbook(data):
        raise Unreadable(WORKBOOK)
    try:
        rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise Unreadable(f"This is not a CSV file in UTF-8 ({error}). Upload the export as Prolific made it.") from None
    rows = [
        {_name(name): (value or "").strip() for name, value in row.items() if isinstance(name, str)} for row in rows
    ]
    if not rows or not {"status"} <= rows[0].keys() or not set(IDS) & rows[0].keys():
        raise Unreadable("The file needs the columns Participant id and Status. Upload the export as Prolific made it.")
    return [Submission(_first(row, IDS), _first(row, SUBMISSIONS), row["status"].upper()) for row in rows]


def _name(column: str) -> str:
    return column.strip().lower().replace("_", " ")


def _first(row: dict[str, str], names: Iterable[str]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def mark_gone(*, study: Study, found: Iterable[Submission], by: str) -> Report:
    """Mark people whose newest submission was returned or timed out as left: others get their screens. Idempotent."""
    report, people = Report(), {one.prolific_pid: one for one in study.annotators.exclude(prolific_pid="")}
    for one in found:
        report.statuses[one.status or "no status"] += 1
        who = people.get(one.participant)
        if who is None:
            report.unknown += [one.participant] if one.participant not in report.unknown else []
        elif one.session and who.prolific_session and one.session != who.prolific_session:
            report.older += 1
        elif one.status.replace(" ", "-") in GONE and lifecycle.leave(annotator=who, by=by):
            report.left.append(who.pseudonym)
    return report
