"""Fetch objects and check permission in one step. Managing is for staff; an image's opaque name is its own permission.

All staff may read benchmarks and add models' answers to them. Changing a benchmark, or deleting somebody's run,
requires more (`check_change`). A job belongs to its creator, unless a guard for its kind says otherwise (`guards`).
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRefresh
from django_htmx.middleware import HtmxDetails

from benchmarks.models import Benchmark, Job, Run

Guard = Callable[..., None]
BenchmarkGuard = Callable[[User, Benchmark], bool]
ZONE = "zone"  # the cookie with the name of the browser's time zone
LONGEST_ZONE = 64  # characters


class HtmxRequest(HttpRequest):
    """A request as processed by `django_htmx`'s middleware."""

    htmx: HtmxDetails


class StaffRequest(HtmxRequest):
    """A request in a view behind `staff_only`."""

    user: User


BENCHMARK_GUARDS: list[BenchmarkGuard] = []
GUARDS: dict[str, Guard] = {}  # kind of job -> who may view it, and who may change it


def staff_only(view: Callable) -> Callable:
    """Restrict a page to staff, with times in their zone (static/js/pages/zone.js). Others are asked to log in or
    refused (403).
    """

    @wraps(view)
    def guarded(request: HtmxRequest, *args, **kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            # Submitted text is kept by its page (static/js/pages/typed.js), to which the login leads back.
            page = came_from(request) if request.method == "POST" else ""
            login = redirect_to_login(page or request.get_full_path())
            return HttpResponseClientRefresh() if request.htmx else login  # reload the whole page, not its fragment
        check_staff(request.user)
        with timezone.override(_zone(request.COOKIES.get(ZONE, ""))):
            return view(request, *args, **kwargs)

    return guarded


def came_from(request: HttpRequest) -> str:
    """Return the page of this installation that the browser comes from; "" if unknown."""
    before = request.headers.get("Referer", "")
    safe = url_has_allowed_host_and_scheme(before, {request.get_host()}, require_https=request.is_secure())
    return before if safe else ""


@lru_cache(maxsize=512)
def _zone(name: str) -> ZoneInfo | None:
    """Return the time zone with that name; None (the server's, UTC) for a name that browsers would not send."""
    try:
        return ZoneInfo(name) if len(name) <= LONGEST_ZONE else None
    except (KeyError, ValueError, OSError):  # an unknown name, a path outside the zones' folder, a folder
        return None


def client_address(request: HttpRequest) -> str:
    """Return the client's address: behind WINNOW_PROXIES proxies, the one seen by the outermost; earlier ones can be
    forged.
    """
    seen = [one.strip() for one in request.headers.get("X-Forwarded-For", "").split(",") if one.strip()]
    proxies = settings.TRUSTED_PROXIES
    return seen[-proxies] if 0 < proxies <= len(seen) else request.META.get("REMOTE_ADDR", "")


def check_staff(user) -> None:
    if not (user.is_active and user.is_staff):
        raise PermissionDenied("Your account may not manage Winnow. Ask an admin for access.")


def check_admin(user) -> None:
    check_staff(user)
    if not user.is_superuser:
        raise PermissionDenied("Only admins manage users. Ask one of them.")


def benchmark_for(user, pk: int, change: bool = False) -> Benchmark:
    check_staff(user)
    benchmark = get_object_or_404(Benchmark.objects.select_related("created_by"), pk=pk)
    if change:
        check_change(user, benchmark)
    return benchmark


def may_manage_webhooks(user, benchmark: Benchmark) -> bool:
    """Allow whoever made the benchmark, even if others run studies on it: webhooks do not affect these."""
    return benchmark.created_by_id == user.pk or may_change_benchmark(user, benchmark)


def benchmark_with_webhooks(user, pk: int) -> Benchmark:
    benchmark = benchmark_for(user, pk)
    return benchmark if may_manage_webhooks(user, benchmark) else benchmark_for(user, pk, change=True)  # which refuses


def run_for(user, benchmark: int, pk: int) -> Run:
    """Return a run that the user may delete: whoever added it, or may change the benchmark."""
    run = get_object_or_404(Run.objects.select_related("benchmark__created_by"), benchmark=benchmark, pk=pk)
    check_staff(user)
    if run.created_by_id != user.pk:
        check_change(user, run.benchmark)
    return run


def guards_benchmarks(guard: BenchmarkGuard) -> BenchmarkGuard:
    """Decorator for `guard(user, benchmark)`, which raises PermissionDenied if the user may not change the benchmark
    because of how it is used, and otherwise returns whether the user runs something that uses it.
    """
    BENCHMARK_GUARDS.append(guard)
    return guard


def check_change(user, benchmark: Benchmark) -> None:
    """Raise PermissionDenied unless the user may change the benchmark, as by an import into it.

    They must have made it, and run every study on it, because new items enter studies that others may run. Admins may
    always. If nobody made it (an import by command), running its studies is enough.
    """
    check_staff(user)
    if user.is_superuser:
        return
    runs = [guard(user, benchmark) for guard in BENCHMARK_GUARDS]
    if benchmark.created_by_id != user.pk and (benchmark.created_by_id or not any(runs)):
        raise PermissionDenied(
            f"“{benchmark}” is {benchmark.created_by or 'nobody'}’s benchmark. Import under another name, or ask "
            f"{f'{benchmark.created_by} or an admin' if benchmark.created_by else 'an admin'}."
        )


def may_change_benchmark(user, benchmark: Benchmark) -> bool:
    try:
        check_change(user, benchmark)
    except PermissionDenied:
        return False
    return True


def guards(kind: str) -> Callable[[Guard], Guard]:
    """Decorator for `guard(user, job, change)`, called for jobs of this kind: it raises Http404 or PermissionDenied if
    the user may not view the job, or with `change` may not cancel it.
    """

    def keep(guard: Guard) -> Guard:
        GUARDS[kind] = guard
        return guard

    return keep


def makers_alone(user, job: Job, change: bool) -> None:
    if job.created_by_id != user.pk:
        raise Http404("This job does not exist.")


def check_job(user, job: Job, change: bool) -> None:
    check_staff(user)
    if not user.is_superuser:
        GUARDS.get(job.kind, makers_alone)(user, job, change)


def job_for(user, pk: int, change: bool = False) -> Job:
    check_staff(user)
    job = get_object_or_404(Job.objects.select_related("created_by"), pk=pk)
    check_job(user, job, change)
    return job


def may_change(user, job: Job) -> bool:
    try:
        check_job(user, job, change=True)
    except (Http404, PermissionDenied):
        return False
    return True


def jobs_for(user) -> QuerySet[Job]:
    """Return the jobs started by the user, newest first; for admins, all jobs."""
    check_staff(user)
    found = Job.objects.select_related("created_by")
    return found if user.is_superuser else found.filter(created_by=user)
