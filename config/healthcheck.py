"""The container's question to its own web server: is it well? Run as a file, so that it costs no Django."""

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
