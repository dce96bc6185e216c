"""The format of every refusal by the API: a code, a sentence, and an entry for each problem.

`{"code": "INVALID", "detail": …, "errors": [{"code", "file", "field", "row", "remedy"}]}`: codes are stable, the rest
is for people. Entries have the same form as an import's problems, and as those of a job.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.core.exceptions import RequestDataTooBig, SuspiciousFileOperation, TooManyFieldsSent, TooManyFilesSent
from django.core.exceptions import ValidationError as FormError
from django.forms import BaseForm, Field
from rest_framework import serializers
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from benchmarks.jobs.kept_uploads import CannotKeep
from benchmarks.jobs.uploads import NoRoom
from benchmarks.records import Problem, Refused

INVALID = "INVALID"
_LARGE_FORM = "A field is too large, or there are too many fields or files. Upload an archive."
_MOST_NAMED = 30  # choices in a refusal
ANY_FIELD = "non_field_errors"  # REST framework's name for errors about the whole


class ErrorData(serializers.Serializer):
    """One problem, and how to solve it."""

    code = serializers.CharField(help_text="Stable: docs/reference/api.md and docs/guide/imports.md list them.")
    file = serializers.CharField(help_text="The file with the problem; empty for the request itself.")
    field = serializers.CharField(source="column", help_text="The field or column; empty if there is not just one.")
    row = serializers.IntegerField(allow_null=True, help_text="From 1; null if it does not concern a single row.")
    remedy = serializers.CharField(source="advice", help_text="The problem and its remedy, as a sentence.")

    class Meta:
        ref_name = "Error"


class RefusalData(serializers.Serializer):
    code = serializers.CharField(help_text="Stable, in capitals.")
    detail = serializers.CharField(help_text="The reason, as a sentence.")
    errors = ErrorData(  # type: ignore[assignment]  # the class removes its fields
        many=True, help_text="The problems with the request, at most 100."
    )

    class Meta:
        ref_name = "Refusal"


def refusal(code: str, detail: str, problems: Sequence[Problem] = ()) -> dict:
    """Return the body of a refusal."""
    return {"code": code, "detail": detail, "errors": ErrorData([one.as_json() for one in problems], many=True).data}


def wrong_field(field: str, remedy: str, code: str = INVALID) -> Problem:
    return Problem(code, "", None, field, remedy)


def form_problems(form: BaseForm, names: Mapping[str, str] | None = None) -> list[Problem]:
    """Return the problems of a page's form; `names`: API fields by form field, if they differ."""
    return [
        wrong_field((names or {}).get(name, name).replace("__all__", ""), text, (error.code or "invalid").upper())
        for name, errors in form.errors.as_data().items()
        for error in errors
        for text in _messages(form.fields.get(name), error)
    ]


def _messages(field: Field | None, error: FormError) -> list[str]:
    """Return error messages; for an invalid choice, with the values, which the page shows in words."""
    words = error.code == "invalid_choice" and wrong_choice(dict(getattr(field, "choices", ())))
    return [words.format(input=(error.params or {}).get("value"))] if words else error.messages


def wrong_choice(values: Iterable[object]) -> str:
    """State that `input` is not one of these; empty if there are too many."""
    named = [str(value) for value in values if value != ""]
    words = f"“{{input}}” is not a valid choice. Choose one of {', '.join(named)}."
    return words if len(named) <= _MOST_NAMED else ""


class CannotAnswer(APIException):
    """A refusal with this status and code; `wait` is the Retry-After in seconds."""

    def __init__(self, status: int, code: str, detail: str, problems: Sequence[Problem] = (), wait: int | None = None):
        super().__init__(detail, code.lower())
        self.status_code, self.problems = status, problems
        if wait is not None:
            self.wait = wait


def conflict(detail: object, code: str = "CONFLICT", problems: Sequence[Problem] = ()) -> CannotAnswer:
    """Refuse with 409: possible at another time or under another name, but not now."""
    return CannotAnswer(409, code, str(detail), problems)


def invalid(problems: Sequence[Problem]) -> CannotAnswer:
    """Refuse with 400, as for a field that a serializer refuses."""
    return CannotAnswer(400, INVALID, _summary(problems), problems)


def refuse(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Answer an exception in an endpoint, as REST framework's exception handler."""
    error = _as_api_exception(error, context["request"].method)
    response = exception_handler(error, dict(context))
    if response is None:
        return None
    if isinstance(error, ValidationError):
        problems = list(_problems(error.detail))
        response.data = refusal(INVALID, _summary(problems), problems[:100])
        return response
    detail = response.data["detail"]
    problems = list(error.problems) if isinstance(error, CannotAnswer) else []
    response.data = refusal(getattr(detail, "code", "error").upper(), str(detail), problems[:100])
    return response


def _as_api_exception(error: Exception, method: str | None) -> Exception:
    match error:
        case Refused():
            return invalid(error.problems)
        case NoRoom():
            return CannotAnswer(507, "STORAGE_FULL", str(error))
        case CannotKeep():
            return invalid([wrong_field(error.fact, str(error))])
        case SuspiciousFileOperation():
            return invalid([wrong_field("name", "Give the file another name, without folders.")])
        case RecursionError():
            return CannotAnswer(400, "PARSE_ERROR", "The JSON is nested too deeply.")
        case RequestDataTooBig() | TooManyFilesSent():
            return CannotAnswer(413, "TOO_LARGE", _LARGE_FORM)
        case TooManyFieldsSent() if method == "POST":  # in a GET, the address has too many
            return CannotAnswer(413, "TOO_LARGE", _LARGE_FORM)
    return error


def _summary(problems: Sequence[Problem]) -> str:
    first = f"{problems[0].column}: {problems[0].advice}" if problems[0].column else problems[0].advice
    return first if len(problems) == 1 else f"{len(problems)} problems were found. The first: {first}"


def _problems(detail: object, path: str = "", row: int | None = None) -> Iterator[Problem]:
    """Yield a validation error's sentences, each with the path of its field; lists of objects give rows."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            if isinstance(name, int):
                yield from _problems(inner, path, name + 1)
            else:
                yield from _problems(inner, path if name == ANY_FIELD else f"{path}.{name}".lstrip("."), row)
    elif isinstance(detail, list):
        for place, inner in enumerate(detail):
            of_row = place + 1 if isinstance(inner, Mapping) else row
            yield from _problems(inner, path, of_row)
    else:
        code = detail.code if isinstance(detail, ErrorDetail) else "invalid"
        yield Problem((code or "invalid").upper(), "", row, path, str(detail))
