"""The real application, but a request that asks for it kills its process after the view's COMMIT, before the answer."""

import os
import signal

from config.wsgi import application as real


def application(environ, start_response):
    answer = real(environ, start_response)
    if "HTTP_X_DIE" in environ:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer
