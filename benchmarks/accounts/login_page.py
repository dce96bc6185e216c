"""The login page: by password, by passkey, or through a provider, as the settings allow."""

from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme


def login_page(
    request: HttpRequest, *, form: AuthenticationForm | None = None, why: str = "", status: int = 200
) -> HttpResponse:
    """Render the page, with `why` as an error above its form."""
    context = {
        "form": form or AuthenticationForm(request),
        "why": why,
        "local": settings.LOCAL_LOGIN,
        "providers": settings.PROVIDERS.values(),
        "next": request.POST.get("next") or request.GET.get("next") or "",
    }
    return render(request, "accounts/login.html", context, status=status)


def wait_page(request: HttpRequest, wait: int, form: AuthenticationForm | None = None) -> HttpResponse:
    """Render the page for somebody who has to wait `wait` seconds before the next attempt."""
    answer = login_page(request, form=form, why=too_many(wait), status=429)
    answer["Retry-After"] = str(wait)
    return answer


def too_many(wait: int) -> str:
    return f"Too many attempts. Try again in {wait} second{'s' if wait > 1 else ''}."


def after_login(request: HttpRequest) -> str:
    """Return the page that the user wanted, if it is one of ours."""
    asked = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if safe else resolve_url("study-list")


def through() -> str:
    """Name the buttons left if passwords are switched off."""
    return f"Log in through {' or '.join(given.label for given in settings.PROVIDERS.values())}."
