"""`manage.py up`: run all of Winnow on this machine until Ctrl-C. `make run` calls it."""

import os
import signal
import sys
from collections.abc import Callable

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections

from benchmarks.accounts.login_page import through
from benchmarks.storage.files import Unavailable, kept
from config import preparation, processes, supervisor
from config.lock import STOPPING, Lock, Taken, take_from_the_stopping
from config.services import CannotStart, Servers

STOP_SECONDS = 40


class Command(BaseCommand):
    help = "Start the database, web server and worker; Ctrl-C stops them. PORT (8000), HOST (127.0.0.1): the address."
    requires_system_checks = []

    def handle(self, **options):
        host, port = os.environ.get("HOST", "127.0.0.1"), self.port()
        shown = f"[{host}]" if ":" in host else {"0.0.0.0": "localhost", "127.0.0.1": "localhost"}.get(host, host)
        self.url = f"http://{shown}:{port}"
        lock = Lock(settings.VAR)
        try:
            take_from_the_stopping(lock, seconds=STOP_SECONDS, what="up", url=self.url)
        except Taken as taken:
            raise SystemExit(self.running(taken.holder)) from None
        try:
            self.serve(lock, host, port)
        except CannotStart as reason:
            raise SystemExit(str(reason)) from None
        finally:
            lock.release()

    def port(self) -> int:
        given = os.environ.get("PORT") or "8000"
        if not given.isdecimal() or not 0 < int(given) < 65536:
            raise SystemExit(f"PORT must be a number from 1 to 65535, not {given!r}.")
        return int(given)

    def running(self, holder: dict) -> str:
        if holder.get("what") == "up":
            return f"Winnow is already running at {holder.get('url')} (process {holder.get('pid')}) on {settings.VAR}."
        return f"`manage.py {holder.get('what')}` is using {settings.VAR}. Start Winnow when it has finished."

    def serve(self, lock: Lock, host: str, port: int) -> None:
        processes.sweep(settings.VAR)
        listener = supervisor.listen(host, port)
        servers = Servers(settings.VAR, postgres=settings.OWN_POSTGRES, valkey=settings.OWN_VALKEY)
        running = supervisor.Supervisor(settings.VAR, servers, listener, reload=settings.DEBUG)
        gone = supervisor.parent_gone()
        for signum in processes.ASK_TO_STOP:
            signal.signal(signum, lambda *_: self.ask_to_stop(running))
        try:
            self.prepare_and_start(servers, running)
            running.run(until=gone)
        except StopAsked:
            pass
        finally:
            lock.tell(what=STOPPING, url=self.url)
            running.stop()
        self.stdout.write("Winnow has stopped.")

    def ask_to_stop(self, running: supervisor.Supervisor) -> None:
        """Ask to stop once: a second Ctrl-C does not interrupt the shutdown."""
        if not running.stopping:
            running.stopping = True
            raise StopAsked

    def prepare_and_start(self, servers: Servers, running: supervisor.Supervisor) -> None:
        self.say(f"Starting Winnow at {self.url} …")
        self.try_storage()
        if servers.starters:
            self.say("Starting the database …")
        servers.start()
        self.say("Migrating the database …")
        preparation.migrate()
        self.say("Preparing static files …")
        preparation.collect_static()
        self.say("Starting the web server and the workers …")
        if not running.reload:
            preparation.preload()
        connections.close_all()
        running.start()
        self.in_a_fork(self.introduce)

    def in_a_fork(self, work: Callable[[], None]) -> None:
        """Do `work` in a fork, whose memory is freed afterwards, so that this process and its children stay small."""
        working = processes.fork(work, dies_by=signal.SIGKILL)
        try:
            status = working.wait()
        except BaseException:
            processes.stop(working)
            raise
        if status:
            raise SystemExit(status)

    def introduce(self) -> None:
        study = preparation.demo(self.say)
        admin = preparation.first_admin(by="command")  # late: stopping before the password is shown would lose it
        self.say(f"Winnow is running at {self.url}")
        self.say(f"  Admin      {self.url}/login/   {self.how_to_log_in(admin)}")
        self.say(f"  Annotator  {self.url}/join/{study.invite}/   (study “{study.name}”)")
        self.say(f"  Data       {settings.VAR}   (logs in {settings.VAR / 'log'})")
        self.say("Ctrl-C stops it.")

    def try_storage(self) -> None:
        try:
            kept.try_out()
        except Unavailable as error:
            raise CannotStart(str(error)) from None

    def how_to_log_in(self, admin: tuple[str, str] | None) -> str:
        if not settings.LOCAL_LOGIN:
            return through()
        if admin is None:
            return "(lost the password? .venv/bin/python manage.py changepassword admin)"
        return f"name {admin[0]}, one-time password {admin[1]}   (shown only once; choose your own when you log in)"

    def say(self, line: str) -> None:
        self.stdout.write(line)
        sys.stdout.flush()


class StopAsked(BaseException):
    """Raised by Ctrl-C or SIGTERM, at any point of starting or watching."""
