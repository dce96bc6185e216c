"""The page of users, for admins: add users, close and reopen accounts."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks import audit, permissions
from benchmarks.accounts import accounts
from benchmarks.permissions import StaffRequest
from benchmarks.tables import Column, Table, bdi, with_sub
from benchmarks.templatetags.winnow import moment

MANAGER, ADMIN = "manager", "admin"
PAGE = 50


class UserForm(forms.Form):
    name = forms.CharField(
        label="Name or e-mail address", max_length=150, help_text="They log in with it.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )  # fmt: skip
    role = forms.ChoiceField(
        choices=[
            (MANAGER, "Manager: imports, creates studies, can join other people’s studies"),
            (ADMIN, "Admin: also sees and manages every study, and adds users"),
        ],
        widget=forms.RadioSelect, initial=MANAGER,
    )  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
@sensitive_variables("password")
def user_list(request: StaffRequest) -> HttpResponse:
    """List users. A POST adds one; only its response has the one-time password."""
    permissions.check_admin(request.user)
    form, made, password = UserForm(request.POST if request.method == "POST" else None), None, ""
    if form.is_valid():
        given, by = form.cleaned_data, audit.named(request.user)
        try:
            made, password = accounts.add_user(name=given["name"], superuser=given["role"] == ADMIN, by=by)
        except accounts.CannotAdd as refusal:
            form.add_error("name", str(refusal))
        else:
            form = UserForm()
    users = Table(
        "users", [*COLUMNS, Column("account", html=lambda user: _act(user, request), quiet_head=True, css="acts")],
        User.objects.order_by("username"), label="users-title", cards=True, request=request, per_page=PAGE,
    )  # fmt: skip
    context = {
        "section": "account", "form": form, "made": made, "password": password, "users": users,
        "local": settings.LOCAL_LOGIN,
    }  # fmt: skip
    return render(request, "accounts/users.html", context, status=422 if form.errors else 200)


def _role(user: User) -> str:
    return "admin" if user.is_superuser else "manager" if user.is_staff else "may not manage"


def _name(user: User) -> SafeString:
    return with_sub(bdi(user.get_username()), user.email if user.email != user.get_username() else "")


def _state(user: User) -> SafeString:
    state, words = ("on", "active") if user.is_active else ("closed", "deactivated")
    return render_to_string("components/_state.html", {"state": state, "words": words})


def _act(user: User, request: HttpRequest) -> SafeString:
    return render_to_string("accounts/_user_act.html", {"of": user, "own": user.pk == request.user.pk}, request)


COLUMNS = [
    Column("user", "username", html=_name, css="name"),
    Column("role", html=_role, unit=""),
    Column("last login", "last_login", lambda at: moment(at) or "never"),
    Column("state", html=_state, unit=""),
]


@require_POST
@permissions.staff_only
def user_change(request: StaffRequest, pk: int) -> HttpResponse:
    """Close the account, or with `to=open` reopen it."""
    permissions.check_admin(request.user)
    user, opens = get_object_or_404(User, pk=pk), request.POST.get("to") == "open"
    if user.pk == request.user.pk:
        messages.error(request, "You cannot close your own account. Ask another admin.")
    else:
        accounts.set_open(user=user, open=opens, by=audit.named(request.user))
        messages.success(request, f"{user} can {'log in again' if opens else 'no longer log in'}.")
    return redirect("user-list")
