"""The container's health check of its own web server. Run as a script, so that it need not load Django."""

import os
import sys
import urllib.error
import urllib.request

ask = urllib.request.Request("http://127.0.0.1:8000/healthz")
ask.add_header("Host", os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".*") or "localhost")
try:
    with urllib.request.urlopen(ask, timeout=4) as answer:
        print(answer.read().decode())
except (urllib.error.URLError, OSError) as error:
    sys.exit(f"/healthz: {error}")
