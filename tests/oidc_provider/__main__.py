"""Serve the provider on a free port until it is killed."""

import os
import sys

import django

os.environ["PROVIDER_FOLDER"] = sys.argv[1]
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.oidc_provider.settings"
django.setup()

from allauth.idp.oidc.models import Client  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402

call_command("migrate", verbosity=0)
User.objects.create(username="somebody")
Client.objects.create(
    id=settings.CLIENT, name="Winnow", secret=make_password(settings.SECRET), scopes="openid\nprofile\nemail",
    skip_consent=True,
)  # fmt: skip
WSGIRequestHandler.log_message = lambda *_: None
server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
server.set_app(get_wsgi_application())
print(f"http://localhost:{server.server_port}", flush=True)
server.serve_forever()
