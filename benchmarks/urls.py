"""URLs for benchmarks, imports, images and login."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt

from benchmarks.accounts import views as accounts_views
from benchmarks.corrections import views as corrections_views
from benchmarks.generation import views as generation_views
from benchmarks.imports import views as imports_views
from benchmarks.jobs import views as jobs_views
from benchmarks.runs import views as runs_views
from benchmarks.scoring import views as scoring_views
from benchmarks.training import views as training_views
from benchmarks.views import benchmarks, images, users

SAML = "login/provider/<slug:organization_slug>/"
OPAQUE = r"(?P<opaque>[0-9a-f]{32})\.jpg"


def later(name: str) -> Callable[..., HttpResponse]:
    """Return a view of accounts/ whose module is loaded on first use: cryptography takes half a second."""

    def view(request: HttpRequest, **values: object) -> HttpResponse:
        return import_string(f"benchmarks.accounts.{name}")(request, **values)

    return view


urlpatterns = [
    re_path(rf"^i/{OPAQUE}$", images.served, name="image"),
    re_path(rf"^s/{OPAQUE}$", images.small, name="small-image"),
    re_path(rf"^t/{OPAQUE}$", images.thumbnail, name="thumbnail"),
    re_path(r"^v/(?P<opaque>[0-9a-f]{32})\.(?P<ending>mp4|webm)$", images.video, name="video"),
    path("login/", accounts_views.log_in, name="login"),
    path("logout/", accounts_views.log_out, name="logout"),
    path("password/", accounts_views.first_password, name="first-password"),
    path("login/code/", later("second_factor.authenticate"), name="mfa_authenticate"),
    path("login/passkey/", later("second_factor.passkey_login"), name="mfa_login_webauthn"),
    path("login/provider/<slug:slug>/", later("provider_views.provider_login"), name="provider-login"),
    path("login/provider/<slug:slug>/callback/", later("provider_views.provider_callback"), name="provider-callback"),
    path(f"{SAML}answer/", csrf_exempt(later("provider_views.saml_answer")), name="saml_acs"),  # allauth's names
    path(f"{SAML}answered/", later("provider_views.saml_answered"), name="saml_finish_acs"),
    path(f"{SAML}logout/", later("provider_views.saml_logout"), name="saml_sls"),
    path(f"{SAML}metadata/", later("provider_views.saml_metadata"), name="saml_metadata"),
    path("account/", accounts_views.account, name="account"),
    path("account/confirm/", later("second_factor.confirm_password"), name="account_reauthenticate"),
    path("account/confirm/code/", later("second_factor.confirm_code"), name="mfa_reauthenticate"),
    path("account/confirm/passkey/", later("second_factor.confirm_passkey"), name="mfa_reauthenticate_webauthn"),
    path("account/app/", later("second_factor.app_add"), name="mfa_activate_totp"),
    path("account/app/remove/", later("second_factor.app_remove"), name="mfa_deactivate_totp"),
    path("account/passkeys/add/", later("second_factor.passkey_add"), name="mfa_add_webauthn"),
    path("account/passkeys/<int:pk>/remove/", later("second_factor.passkey_remove"), name="mfa_remove_webauthn"),
    path("account/codes/", later("second_factor.recovery_codes"), name="mfa_view_recovery_codes"),
    path("account/codes/new/", later("second_factor.recovery_codes_new"), name="mfa_generate_recovery_codes"),
    path("account/provider/<slug:slug>/connect/", later("provider_views.provider_connect"), name="provider-connect"),
    path(
        "account/provider/<slug:slug>/disconnect/",
        later("provider_views.provider_disconnect"),
        name="provider-disconnect",
    ),
    path("account/sessions/end/", accounts_views.sessions_end, name="sessions-end"),
    path("users/", users.user_list, name="user-list"),
    path("users/<int:pk>/", users.user_change, name="user-change"),
    path("token/", accounts_views.own_token, name="api-token"),
    path("token/revoke/", accounts_views.token_revoke, name="api-token-revoke"),
    path("benchmarks/", benchmarks.benchmark_list, name="benchmark-list"),
    path("benchmarks/import/", imports_views.import_new, name="import-new"),
    path("jobs/<int:pk>/first/", jobs_views.job_columns, name="import-preview"),
    path("benchmarks/<int:pk>/", benchmarks.benchmark_detail, name="benchmark-detail"),
    path("benchmarks/<int:pk>/archive/", benchmarks.benchmark_archive, name="benchmark-archive"),
    path("benchmarks/<int:pk>/settings/", benchmarks.benchmark_settings, name="benchmark-settings"),
    path("benchmarks/<int:pk>/score/", scoring_views.score_new, name="score-new"),
    path("benchmarks/<int:pk>/captions/", generation_views.captions_new, name="captions-new"),
    path("benchmarks/<int:pk>/ask/", scoring_views.ask_new, name="ask-new"),
    path("benchmarks/<int:pk>/images/", generation_views.images_new, name="images-new"),
    path("benchmarks/<int:pk>/train/", training_views.train_new, name="train-new"),
    path("benchmarks/<int:pk>/predictions/", runs_views.predictions_new, name="predictions-new"),
    path("benchmarks/<int:pk>/corrections/", corrections_views.corrections_new, name="corrections-new"),
    path("benchmarks/<int:pk>/items/<int:position>/correct/", corrections_views.item_correct, name="item-correct"),
    path("benchmarks/<int:pk>/reported/", runs_views.reported_new, name="reported-new"),
    path("benchmarks/<int:pk>/runs/<int:run>/delete/", runs_views.run_delete, name="run-delete"),
    path("jobs/<int:pk>/", jobs_views.job_detail, name="job-detail"),
    path("jobs/<int:pk>/cancel/", jobs_views.job_cancel, name="job-cancel"),
    # Names by which allauth finds our pages.
    path("login/", accounts_views.log_in, name="account_login"),
    path("account/", accounts_views.account, name="mfa_index"),
    path("account/", accounts_views.account, name="mfa_list_webauthn"),
]
