"""The managers' page of a benchmark's models beside the people who judged it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.comparison import page
from benchmarks.permissions import benchmark_for, staff_only


@require_safe
@staff_only
def benchmark_models(request: HttpRequest, pk: int) -> HttpResponse:
    """`?measure=group&order=best&other=7`"""
    contents = page.contents(request.user, benchmark_for(request.user, pk), request.GET)
    return render(request, "comparison/models.html", {"section": "benchmarks", **contents})
