"""Fetch and permission in one step. Managing is for staff; an image's opaque name is its own permission."""

from collections.abc import Callable
from functools import wraps

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django_htmx.http import HttpResponseClientRefresh
from rest_framework.permissions import IsAdminUser

from benchmarks.models import Benchmark, Job

OWN_PASSWORD = "needs_own_password"  # in the session of somebody who came in by a password that another person made


def staff_only(view: Callable) -> Callable:
    """A page for staff. Others are asked to log in or refused (403)."""

    @wraps(view)
    def guarded(request: HttpRequest, *args, **kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            login = redirect_to_login(request.get_full_path())
            return HttpResponseClientRefresh() if request.htmx else login  # the whole page, not its fragment
        check_staff(request.user)
        if request.session.get(OWN_PASSWORD):
            return redirect("first-password")
        return view(request, *args, **kwargs)

    return guarded


class Managers(IsAdminUser):
    """The API's door: the pages' rights, and like them shut until one has a password of one's own."""

    def has_permission(self, request, view) -> bool:
        return super().has_permission(request, view) and not request.session.get(OWN_PASSWORD)


def check_staff(user) -> None:
    if not (user.is_active and user.is_staff):
        raise PermissionDenied("This page is for managers.")


def benchmark_for(user, pk: int) -> Benchmark:
    check_staff(user)
    return get_object_or_404(Benchmark.objects.select_related("created_by"), pk=pk)


def job_for(user, pk: int) -> Job:
    check_staff(user)
    return get_object_or_404(Job.objects.select_related("created_by"), pk=pk)
