"""The provider's settings. Its keys are made anew for each start."""

import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa


def _key() -> str:
    made = rsa.generate_private_key(65537, 2048)
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return made.private_bytes(*form).decode()


SECRET_KEY = "x" * 50
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "tests.oidc_provider.site"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": Path(os.environ["PROVIDER_FOLDER"]) / "provider.sqlite3",
    }
}
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "allauth.account",
    "allauth.idp.oidc",
]
MIDDLEWARE = [
    "tests.oidc_provider.site.misbehaving",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_COOKIE_NAME = "provider"  # cookies do not know ports, and Winnow is on another one of this host
LOGIN_URL = "/log-in/"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
IDP_OIDC_ADAPTER = "tests.oidc_provider.site.Adapter"
IDP_OIDC_PRIVATE_KEY, FOREIGN_KEY = _key(), _key()
CLIENT, SECRET = "winnow", "a-secret-of-the-client-with-32-bytes"
