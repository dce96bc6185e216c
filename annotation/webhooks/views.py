"""The webhooks' pages: a study's, for its managers; a benchmark's, for its maker and those who may change it; and a
single webhook's.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.models import Delivery, DeliveryState, Role, Study, Webhook
from annotation.permissions import whole_number
from annotation.webhooks import endpoints, send
from annotation.webhooks.endpoints import CannotChange
from annotation.webhooks.forms import SinceForm, WebhookForm
from benchmarks import audit
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest, benchmark_with_webhooks, staff_only
from benchmarks.seen import latest
from benchmarks.tables import Column, Table, number, with_sub
from benchmarks.templatetags.winnow import moment

UNFIT = 422
SHOWN = 100  # deliveries on a page
DIGITS = 18  # digits of a number in a form
WAITING, FAILED = DeliveryState.WAITING, DeliveryState.FAILED


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_webhooks(request: StaffRequest, pk: int) -> HttpResponse:
    return _list(request, permissions.study_for(request.user, pk, Role.MANAGER))


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def benchmark_webhooks(request: StaffRequest, pk: int) -> HttpResponse:
    return _list(request, benchmark_with_webhooks(request.user, pk))


def _list(request: StaffRequest, owner: Study | Benchmark) -> HttpResponse:
    """List the webhooks; a POST adds one, and its response shows the secret."""
    form = WebhookForm(request.POST if request.method == "POST" else None, owner=owner)
    if form.is_valid():
        by = audit.named(request.user)
        try:
            added, secret = endpoints.add(owner=owner, by=by, created_by=request.user, **form.cleaned_data)
        except CannotChange as refusal:
            form.add_error("url", str(refusal))
        else:
            return _detail_page(request, added, secret=secret)
    context = {**_of(owner), "webhooks": owner.webhooks.with_deliveries(), "form": form}
    return render(request, "webhooks/list.html", context, status=UNFIT if form.errors else 200)


def _of(owner: Study | Benchmark) -> dict:
    is_study = isinstance(owner, Study)
    shell = {"section": "studies", "study": owner} if is_study else {"section": "benchmarks", "benchmark": owner}
    return {"owner": owner, "is_study": is_study, **shell}


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def webhook_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """Show a webhook with its last deliveries; the `do` of a POST names the action."""
    webhook = permissions.webhook_for(request.user, pk)
    if request.method != "POST":
        return _detail_page(request, webhook)
    action = _ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        return _detail_page(request, webhook, status=UNFIT)
    return action(request, webhook, audit.named(request.user)) or redirect("webhook-detail", webhook.pk)


def _detail_page(
    request: StaffRequest, webhook: Webhook, *, form: WebhookForm | None = None, since: SinceForm | None = None,
    secret: str = "", status: int = 200,
) -> HttpResponse:  # fmt: skip
    if webhook.study_id is not None:  # with `may`, which the study's shell needs, whoever fetched the webhook
        webhook.study = permissions.study_for(request.user, webhook.study_id, Role.MANAGER)
    deliveries = Table(
        "deliveries", _deliveries(request, webhook), webhook.deliveries.all()[:SHOWN], label="deliveries-title",
        cards=True, css="figures deliveries", empty="No events yet. Send a test event to try your program.",
    )  # fmt: skip
    first = webhook.deliveries.filter(state=WAITING).order_by("pk").first()
    now = timezone.now()
    context = {
        **_of(webhook.owner), "webhook": webhook, "deliveries": deliveries, "shown": SHOWN, "secret": secret,
        "form": form or WebhookForm(owner=webhook.owner, webhook=webhook),
        "since": since or SinceForm(initial={"since": timezone.localtime(now - timedelta(days=1))}),
        "forms": (form, since),
        "given_up": webhook.deliveries.filter(state=FAILED).order_by("pk").first(), "most_tries": send.TRIES,
        "trying": first if first and first.problem and not webhook.paused_at else None,
        "waiting": webhook.deliveries.filter(state=WAITING).count(),
        "old_until": webhook.old_until if webhook.old_until and webhook.old_until > now else None,
    }  # fmt: skip
    return render(request, "webhooks/detail.html", context, status=status)


def _deliveries(request: StaffRequest, webhook: Webhook) -> list[Column]:
    def event(delivery: Delivery) -> object:
        about = delivery.data.items()
        words = " ".join(f"{name} {value}" for name, value in about if name not in ("study", "benchmark", "judgments"))
        return with_sub(format_html('<code id="event-{}">{}</code>', delivery.pk, delivery.type), words)

    def status(delivery: Delivery) -> object:
        words = delivery.get_state_display().lower()
        state = render_to_string("components/_state.html", {"job": delivery, "state": delivery.state, "words": words})
        problem = delivery.problem and format_html('<p class="small problem">{}</p>', delivery.problem)
        return format_html("{}{}", state, problem)

    def again(delivery: Delivery) -> object:
        shown = {"delivery": delivery, "webhook": webhook}
        return render_to_string("webhooks/_again.html", shown, request) if delivery.state != WAITING else ""

    return [
        Column("event", html=event),
        Column("status", html=status, unit=""),
        Column("happened", "created_at", lambda at: moment(at, "j M, H:i:s"), unit=""),
        number("tries", "tries"),
        Column("send again", html=again, quiet_head=True),
    ]


# Actions of a POST: return an answer, or None for the webhook's page


def _change(request: StaffRequest, webhook: Webhook, by: str) -> HttpResponse | None:
    with latest(webhook, request):
        form = WebhookForm(request.POST, owner=webhook.owner, webhook=webhook)
        if form.is_valid():
            try:
                endpoints.change(webhook=webhook, by=by, **form.cleaned_data)
            except CannotChange as refusal:
                form.add_error("url", str(refusal))
    if form.errors:
        return _detail_page(request, webhook, form=form, status=UNFIT)
    messages.success(request, "Saved.")
    return None


def _new_secret(request: StaffRequest, webhook: Webhook, by: str) -> HttpResponse:
    return _detail_page(request, webhook, secret=endpoints.new_secret(webhook=webhook, by=by))


def _pause(request: StaffRequest, webhook: Webhook, by: str) -> None:
    endpoints.pause(webhook=webhook, by=by)
    messages.success(request, "Paused. Events are stored until you resume.")


def _resume(request: StaffRequest, webhook: Webhook, by: str) -> None:
    endpoints.resume(webhook=webhook, by=by, skip=request.POST["do"] == "skip")
    messages.success(request, "Resumed. Waiting events are being sent.")


def _test(request: StaffRequest, webhook: Webhook, by: str) -> None:
    endpoints.send_test(webhook=webhook, by=by)
    messages.success(request, "A test event was queued. Reload the page to see whether it was delivered.")


def _again(request: StaffRequest, webhook: Webhook, by: str) -> None:
    number = whole_number(request.POST.get("delivery"), DIGITS)
    count = endpoints.send_again(webhook=webhook, by=by, delivery=number or 0)
    _tell_queued(request, count)


def _again_since(request: StaffRequest, webhook: Webhook, by: str) -> HttpResponse | None:
    form = SinceForm(request.POST)
    if not form.is_valid():
        return _detail_page(request, webhook, since=form, status=UNFIT)
    since: datetime = form.cleaned_data["since"]
    _tell_queued(request, endpoints.send_again(webhook=webhook, by=by, since=since))
    return None


def _tell_queued(request: StaffRequest, count: int) -> None:
    what = f"{count:,} event{'' if count == 1 else 's'} will be sent again." if count else "No events to send again."
    messages.success(request, what)


def _delete(request: StaffRequest, webhook: Webhook, by: str) -> HttpResponse:
    endpoints.delete(webhook=webhook, by=by)
    messages.success(request, "The webhook was deleted.")
    if webhook.study_id:
        return redirect("study-webhooks", webhook.study_id)
    return redirect("benchmark-webhooks", webhook.benchmark_id)


_ACTIONS: dict[str, Callable[[StaffRequest, Webhook, str], HttpResponse | None]] = {
    "change": _change, "secret": _new_secret, "pause": _pause, "resume": _resume, "skip": _resume, "test": _test,
    "again": _again, "since": _again_since, "delete": _delete,
}  # fmt: skip
