"""All settings in one file, only from the environment.

By default, Winnow runs on a laptop: with its own PostgreSQL and Valkey under `var/` and a secret key created on first
use. With `WINNOW_PRODUCTION=1` it refuses to start until everything that a public server needs is set.
docs/guide/deployment.md lists every variable.
"""

import ipaddress
import logging
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

from annotation.releases.schema import WINNOW as VERSION
from config import services

BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(os.environ.get("WINNOW_VAR", BASE_DIR / "var")).resolve()


def flag(name: str) -> bool:
    return os.environ.get(name, "").lower() in {"1", "true", "yes", "on"}


def required(name: str, what: str) -> str:
    value = os.environ.get(name, "")
    if not value or "replace-this" in value:  # the placeholder in .env.example
        raise ImproperlyConfigured(f"Set {name}: {what}. See docs/guide/deployment.md for an example.")
    return value


SECRETS = (
    "SECRET_KEY", "DATABASE_URL", "DATABASE_POOL_URL", "PGPASSWORD", "REDIS_URL", "EMAIL_HOST_PASSWORD",
    "WINNOW_S3_ACCESS_KEY", "WINNOW_S3_SECRET_KEY", "WINNOW_PROVIDERS", "WINNOW_LLM_KEY",
    "WINNOW_METRICS_TOKEN",
)  # fmt: skip
for secret in SECRETS:
    if file := os.environ.get(f"{secret}_FILE"):  # how containers get their secrets
        try:
            os.environ[secret] = Path(file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ImproperlyConfigured(f"{secret}_FILE names a file that cannot be read: {error}.") from None

DATABASE_EXAMPLE = "it looks like postgresql://user:password@host:5432/name"

PRODUCTION = flag("WINNOW_PRODUCTION")
DEBUG = flag("WINNOW_DEBUG") and not PRODUCTION

if PRODUCTION:
    SECRET_KEY = required("SECRET_KEY", "50 or more random characters, kept secret")
    HOSTS = required("ALLOWED_HOSTS", "the host names at which Winnow is reached, separated by commas")
    DATABASE_URL = required("DATABASE_URL", DATABASE_EXAMPLE)
    REDIS_URL = required("REDIS_URL", "redis://host:6379/0")
    if os.environ.get("PGPASSWORD"):  # for a DATABASE_URL without one
        required("PGPASSWORD", "the database's password (of Compose: POSTGRES_PASSWORD)")
else:
    SECRET_KEY = os.environ.get("SECRET_KEY") or services.secret_key(VAR)
    HOSTS = os.environ.get("ALLOWED_HOSTS") or "*"
    DATABASE_URL = os.environ.get("DATABASE_URL") or services.database_url(VAR)
    REDIS_URL = os.environ.get("REDIS_URL") or services.redis_url(VAR)
PROXIES = os.environ.get("WINNOW_PROXIES") or ("1" if PRODUCTION else "0")
if not PROXIES.isdecimal():
    raise ImproperlyConfigured(f"WINNOW_PROXIES must be the number of proxies in front of Winnow, not {PROXIES!r}.")
TRUSTED_PROXIES = int(PROXIES)  # each appends to X-Forwarded-For
JOINS_PER_HOUR = int(os.environ.get("WINNOW_JOINS_PER_HOUR") or 30)  # per study and address; 0: unlimited
PRIVATE = os.environ.get("WINNOW_WEBHOOK_PRIVATE", "")
try:  # private networks to which webhooks may be sent
    WEBHOOK_NETWORKS = [ipaddress.ip_network(name.strip()) for name in PRIVATE.split(",") if name.strip()]
except ValueError:
    what = "networks separated by commas, such as 10.20.0.0/16,127.0.0.1/32"
    raise ImproperlyConfigured(f"WINNOW_WEBHOOK_PRIVATE must be {what}, not {PRIVATE!r}.") from None
ALLOWED_HOSTS = [name.strip() for name in HOSTS.split(",") if name.strip()]
OWN_POSTGRES = not os.environ.get("DATABASE_URL")  # started by `make run` and by commands, under VAR
OWN_VALKEY = not os.environ.get("REDIS_URL")
DEMO = os.environ.get("WINNOW_DEMO_ITEMS") or "60"
if not DEMO.isdecimal() or not 1 <= int(DEMO) <= 60:
    raise ImproperlyConfigured(f"WINNOW_DEMO_ITEMS must be a number of items, from 1 to 60, not {DEMO!r}.")
DEMO_ITEMS = int(DEMO)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "django_htmx",
    "rest_framework",
    "rest_framework.authtoken",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "allauth.usersessions",
    "drf_spectacular",
    "csp",
    "config",
    "annotation",
    "benchmarks",
]

MIDDLEWARE = [
    "config.operations.identified",
    "config.operations.answered",
    "config.operations.measured",
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.CompressedPages",
    "config.middleware.no_nul",
    "config.middleware.plans",
    "config.middleware.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.no_store",
    "config.appearance.appearance",
    "config.typed.confirm",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.room_for_uploads",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "config.bodies.bodies",
    "config.middleware.ConnectionErrors",
]

ROOT_URLCONF = "config.urls"
CSRF_FAILURE_VIEW = "config.views.outdated_form"
WSGI_APPLICATION = "config.wsgi.application"
LOADERS = ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"]
TEMPLATE_LIBRARIES = [  # built in: templates do not load them, and names must be unique
    "django.templatetags.i18n",
    "django.templatetags.static",
    "django.contrib.humanize.templatetags.humanize",
    "annotation.dashboard.study_shell",  # above `templatetags`: they read statistics
    "annotation.dashboard.study_tables",
    *(".".join(path.relative_to(BASE_DIR).with_suffix("").parts) for path in BASE_DIR.glob("*/templatetags/[!_]*.py")),
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": TEMPLATE_LIBRARIES,
            "loaders": LOADERS if DEBUG else [("django.template.loaders.cached.Loader", LOADERS)],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]


def database(name: str, url: str) -> dict:
    try:
        found: dict = dict(dj_database_url.parse(url, conn_max_age=600, conn_health_checks=True))
    except ValueError:
        raise ImproperlyConfigured(f"{name} is not a database URL; {DATABASE_EXAMPLE}.") from None
    if found.get("ENGINE") != "django.db.backends.postgresql":
        raise ImproperlyConfigured(f"{name} must name a PostgreSQL database; {DATABASE_EXAMPLE}.")
    found["ENGINE"] = "config.database"
    # A socket's folder is in the options, where libpq finds it but `dbshell` does not look.
    found["HOST"] = found.setdefault("OPTIONS", {}).pop("host", found["HOST"])
    # Annotators' statements are planned once per connection (config.middleware.plans): planning took half of
    # PostgreSQL's time in judging.
    found["OPTIONS"].update(server_side_binding=True, prepare_threshold=2)
    return found


DATABASES = {"default": database("DATABASE_URL", DATABASE_URL)}
SESSION_DATABASE = "default"  # keeps its connection between transactions, so locks can be held there
POOL_URL = os.environ.get("DATABASE_POOL_URL", "")  # a transaction pooler; manage.py's commands do not use it
if POOL_URL:
    DATABASES["direct"], SESSION_DATABASE = {**DATABASES["default"], "CONN_MAX_AGE": 0}, "direct"
    DATABASES["default"] = database("DATABASE_POOL_URL", POOL_URL)
    # The next transaction may get another connection, without this one's prepared statements and cursors.
    DATABASES["default"]["OPTIONS"]["prepare_threshold"] = None
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
HUNG = 5  # seconds until a connection to a hanging Redis is dropped; nobody waits that long (config/cache.py)
AT_ONCE = {"retry": Retry(NoBackoff(), 0), "socket_timeout": HUNG, "socket_connect_timeout": HUNG}
CACHES = {"default": {"BACKEND": "config.cache.Cache", "LOCATION": REDIS_URL, "OPTIONS": {**AT_ONCE}}}

CELERY_BROKER_URL = services.broker_url(REDIS_URL)
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 2 * HUNG, "socket_connect_timeout": HUNG}  # workers poll for 1 s
CELERY_TASK_PUBLISH_RETRY = False  # workers look for unsent tasks
CELERY_TASK_IGNORE_RESULT = True  # progress and errors are in the Job row
CELERY_TASK_ACKS_LATE = True  # a killed worker's task runs again; every task may run twice
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ROUTES = {  # machines with a GPU serve only this queue
    "benchmarks.tasks.run_with_model": {"queue": "models"}
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "study-list"
LOGOUT_REDIRECT_URL = "login"

# Login through a provider, second factors and sessions: django-allauth, behind our own pages (benchmarks/accounts).
PROVIDERS: dict[str, Any] = {}
if PROVIDERS_TEXT := os.environ.get("WINNOW_PROVIDERS", ""):
    from config import providers  # late, because nothing else needs its libraries

    PROVIDERS.update(providers.read(PROVIDERS_TEXT, secure=PRODUCTION))
LOCAL_LOGIN = flag("WINNOW_LOCAL_LOGIN") or not os.environ.get("WINNOW_LOCAL_LOGIN")
if not LOCAL_LOGIN and not PROVIDERS:
    raise ImproperlyConfigured("WINNOW_LOCAL_LOGIN=0 needs a provider: set WINNOW_PROVIDERS, or nobody can log in.")
ACCOUNT_ADAPTER = "benchmarks.accounts.adapter.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_REAUTHENTICATION_TIMEOUT = 600  # seconds
SOCIALACCOUNT_ADAPTER = "benchmarks.accounts.provider.ProviderAdapter"
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_RATE_LIMITS = {"reauthenticate": None}  # failed passwords and codes have a separate limit: login_failed
MFA_RATE_LIMITS = {"webauthn_login": None}  # benchmarks/accounts/limits.py
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "add_webauthn": "benchmarks.accounts.passkey_forms.AddForm",
    "authenticate_webauthn": "benchmarks.accounts.passkey_forms.AuthenticateForm",
    "login_webauthn": "benchmarks.accounts.passkey_forms.LoginForm",
    "reauthenticate_webauthn": "benchmarks.accounts.passkey_forms.ConfirmForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_USER_VERIFICATION = "required"  # the login page accepts answers to any page's challenge
MFA_TOTP_ISSUER = "Winnow"

# E-mail: without a host, it is not offered or sent.
EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'dummy'}.EmailBackend"
EMAIL_USE_TLS, EMAIL_USE_SSL = flag("EMAIL_USE_TLS"), flag("EMAIL_USE_SSL")
if EMAIL_USE_TLS and EMAIL_USE_SSL:
    raise ImproperlyConfigured("Set EMAIL_USE_TLS (STARTTLS) or EMAIL_USE_SSL (TLS from the start), not both.")
MAIL_PORT = os.environ.get("EMAIL_PORT") or ("465" if EMAIL_USE_SSL else "587" if EMAIL_USE_TLS else "25")
if not MAIL_PORT.isdecimal():
    raise ImproperlyConfigured(f"EMAIL_PORT must be a number, not {MAIL_PORT!r}.")
EMAIL_PORT = int(MAIL_PORT)
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
EMAIL_TIMEOUT = 20  # seconds
DEFAULT_FROM_EMAIL = required("EMAIL_FROM", "the sender of e-mail: winnow@example.org") if EMAIL_HOST else ""
SITE_URL = os.environ.get("WINNOW_URL", "").rstrip("/")
if EMAIL_HOST and not SITE_URL.startswith(("http://", "https://")):
    raise ImproperlyConfigured("Set WINNOW_URL to the address of the front page, for links in e-mail: https://host.")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
# Languages of annotators' pages, each by its own name; managers' pages are in English.
LANGUAGES = [
    ("en", "English"),
    ("es", "Español"),
    ("de", "Deutsch"),
    ("zh-hans", "简体中文"),
    ("ar", "العربية"),
    ("eu", "Euskara"),
]

STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ.get("WINNOW_STATIC", VAR / "static"))
STATICFILES_DIRS = [BASE_DIR / "static"]
MEDIA_ROOT = VAR / "media"
MEDIA_URL = "/i/"
ACCEL_REDIRECT = os.environ.get("WINNOW_ACCEL_REDIRECT", "")  # nginx's internal location of MEDIA_ROOT, if used
# Chat endpoints that managers may choose, and that may get WINNOW_LLM_KEY, which only the worker reads
LLM_ENDPOINTS = [address.rstrip("/") for address in os.environ.get("WINNOW_LLM_ENDPOINTS", "").split()]
MODELS = Path(os.environ.get("WINNOW_MODELS", VAR / "models"))  # model weights that managers may choose by name
# Bytes of the largest body that anybody may send and that the web server buffers in memory until complete: 12 texts of
# 5,000 characters, the most on one screen, are at most 720 kB. Larger ones: config/bodies.py
BUFFERED_BODY = 2**20
METRICS_TOKEN = os.environ.get("WINNOW_METRICS_TOKEN", "")  # lets Prometheus read /metrics
ACCESS_LOG = flag("WINNOW_ACCESS_LOG")
FILE_UPLOAD_TEMP_DIR = services.folder(VAR / "uploads")
S3_BUCKET = os.environ.get("WINNOW_S3_BUCKET", "")  # an object storage bucket for files instead of MEDIA_ROOT
if S3_BUCKET:
    if not find_spec("boto3"):
        raise ImproperlyConfigured(
            "WINNOW_S3_BUCKET needs packages that are not installed. Run pip install -r requirements/remote.lock."
        )
    if ACCEL_REDIRECT:
        raise ImproperlyConfigured("Unset WINNOW_ACCEL_REDIRECT: with WINNOW_S3_BUCKET, nginx gets no images.")
    S3_KEYS = [os.environ.get(name, "") for name in ("WINNOW_S3_ACCESS_KEY", "WINNOW_S3_SECRET_KEY")]
    if bool(S3_KEYS[0]) != bool(S3_KEYS[1]) or "replace-this" in S3_KEYS:
        raise ImproperlyConfigured(
            "Set WINNOW_S3_ACCESS_KEY and WINNOW_S3_SECRET_KEY, or neither for the machine's own."
        )
    S3_DOWNLOADS = os.environ.get("WINNOW_S3_DOWNLOADS", "")
    for address in (S3_URL := os.environ.get("WINNOW_S3_URL", ""), S3_DOWNLOADS):
        if address and not address.startswith(("http://", "https://")):
            raise ImproperlyConfigured(
                f"WINNOW_S3_URL and WINNOW_S3_DOWNLOADS are addresses: https://…, not {address!r}."
            )
    KEPT_FILES: dict = {
        "BACKEND": "benchmarks.storage.bucket.Bucket",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "endpoint_url": S3_URL or None,
            "downloads": S3_DOWNLOADS,
            "region_name": os.environ.get("WINNOW_S3_REGION") or "us-east-1",
            "access_key": S3_KEYS[0] or None,
            "secret_key": S3_KEYS[1] or None,
        },
    }
else:
    KEPT_FILES = {"BACKEND": "benchmarks.storage.folder.Folder"}
STORAGES = {"default": KEPT_FILES, "staticfiles": {"BACKEND": "config.static.Storage"}}
WHITENOISE_USE_FINDERS = DEBUG

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_AGE = 14 * 24 * 3600
if PRODUCTION:
    SECURE_SSL_REDIRECT = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    CSRF_TRUSTED_ORIGINS = [f"https://{'*' * host.startswith('.')}{host}" for host in ALLOWED_HOSTS if host != "*"]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "benchmarks.accounts.tokens.ByToken",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser", "benchmarks.accounts.tokens.MayWrite"],
    "DEFAULT_THROTTLE_CLASSES": ["benchmarks.accounts.tokens.PerToken"],
    "DEFAULT_THROTTLE_RATES": {"token": "600/min"},  # a million judgments are a thousand pages
    "EXCEPTION_HANDLER": "benchmarks.api.errors.refuse",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "benchmarks.api.endpoints.Description",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Winnow",
    "DESCRIPTION": "Benchmarks, studies with their judgments and figures, exports and releases.",
    "VERSION": VERSION,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAdminUser"],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1/",
    "DEFAULT_GENERATOR_CLASS": "benchmarks.api.endpoints.DescribedOnce",
    "ENUM_NAME_OVERRIDES": {  # fields with the same name but different values
        "StudyState": "annotation.models.choices.StudyState",
        "StageState": "annotation.models.choices.StageState",
        "OutcomeState": "annotation.models.choices.OutcomeState",
        "JobState": "benchmarks.models.JobState",
        "TaskKind": "annotation.models.choices.Kind",
        "EvaluationKind": "benchmarks.runs.forms.KIND_CHOICES",
        "MemberRole": "annotation.models.choices.Role",
        "CaptionRole": "benchmarks.models.Role",
    },
}

LOG_JSON = flag("WINNOW_LOG_JSON")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"redacted": {"()": "config.logs.Redacted", "as_json": LOG_JSON}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "redacted"}},
    "root": {"handlers": ["console"], "level": os.environ.get("WINNOW_LOG", "WARNING")},
    "loggers": {
        "django.request": {"level": "ERROR"},  # an annotator's URL is a capability, which logged 404s would reveal
        "winnow.access": {"level": "INFO"},
    },
}
logging.captureWarnings(LOG_JSON)  # Python writes them as text
