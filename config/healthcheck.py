"""The container's health check of its own web server. Run as a script, so that it does not load Django."""

import sys
import urllib.error
import urllib.request

try:
    with urllib.request.urlopen("http://127.0.0.1:8000/healthz", timeout=4) as answer:
        print(answer.read().decode())
except (urllib.error.URLError, OSError) as error:
    sys.exit(f"/healthz: {error}")
