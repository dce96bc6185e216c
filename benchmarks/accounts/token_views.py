"""One's own token for the API: made, shown once, renewed, revoked."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from benchmarks import permissions
from benchmarks.accounts import tokens
from benchmarks.audit import named
from benchmarks.permissions import StaffRequest


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@permissions.staff_only
def own_token(request: StaffRequest) -> HttpResponse:
    """POST makes a new one. It is in the answer itself: nothing keeps it that could show it a second time."""
    made = tokens.make_token(user=request.user, by=named(request.user)) if request.method == "POST" else ""
    context = {
        "section": "token",
        "made": made,
        "token": Token.objects.filter(user=request.user).first(),
        "address": request.build_absolute_uri(reverse("api-study-list")),
    }
    return render(request, "accounts/token.html", context)


@require_POST
@permissions.staff_only
def token_revoke(request: StaffRequest) -> HttpResponse:
    there_was = tokens.revoke_token(user=request.user, by=named(request.user))
    messages.success(request, "The token opens nothing any more." if there_was else "There was no token.")
    return redirect("api-token")
