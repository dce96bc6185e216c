"""Fetch and permission in one step. Managing is for staff; an image's opaque name is its own permission."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from benchmarks.models import Benchmark, Job

OWN_PASSWORD = "needs_own_password"  # in the session of somebody who came in by a password that another person made


def staff_only(view: Callable) -> Callable:
    """A page for staff. Others are asked to log in or refused (403)."""

    @wraps(view)
    def guarded(request: HttpRequest, *args, **kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        check_staff(request.user)
        if request.session.get(OWN_PASSWORD):
            return redirect("first-password")
        return view(request, *args, **kwargs)

    return guarded


def check_staff(user) -> None:
    if not (user.is_active and user.is_staff):
        raise PermissionDenied("This page is for managers.")


def benchmark_for(user, pk: int) -> Benchmark:
    check_staff(user)
    return get_object_or_404(Benchmark.objects.select_related("created_by"), pk=pk)


def job_for(user, pk: int) -> Job:
    check_staff(user)
    return get_object_or_404(Job.objects.select_related("created_by"), pk=pk)
