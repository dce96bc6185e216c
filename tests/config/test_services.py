"""The servers that Winnow brings along, without starting any: what is done about one that has died."""

import subprocess
from collections import namedtuple

import psutil
import pytest

from config import processes, services
from config.services import CannotStart, Servers


@pytest.fixture
def servers(tmp_path, monkeypatch):
    """A PostgreSQL that has died and starts only while `servers.room` is there."""
    servers = Servers(tmp_path, valkey=False)
    servers.room = 0
    died = subprocess.Popen(["true"])
    died.wait()
    servers.children = {"postgres": died}

    def start() -> None:
        if not servers.room:
            raise CannotStart("PostgreSQL did not start")
        servers.children.clear()

    servers.starters = {"postgres": start}
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(services.shutil, "disk_usage", lambda path: usage(servers.room))
    monkeypatch.setattr(services.time, "sleep", lambda seconds: None)
    return servers


def test_a_server_that_the_full_disk_keeps_from_starting_is_started_when_there_is_room(servers):
    assert servers.revive() == []
    servers.room = 10**9
    assert servers.revive() == ["postgres"]


def test_a_server_that_cannot_start_for_another_reason_is_given_up(servers, monkeypatch):
    monkeypatch.setattr(services, "LEAST_ROOM", -1)
    with pytest.raises(CannotStart):
        servers.revive()


def test_old_sessions_that_end_while_postgres_fails_because_of_them_do_not_keep_it_from_starting(servers, monkeypatch):
    old_sessions = ["one"]
    monkeypatch.setattr(servers, "_old_backends_remain", lambda: bool(old_sessions))
    monkeypatch.setattr(servers, "_try_postgres", lambda binaries: not (old_sessions and old_sessions.pop()))
    servers._try_until_it_starts(servers.var)


def test_a_process_that_ends_while_it_is_looked_at_is_no_old_session(servers, monkeypatch):
    ending = subprocess.Popen(["sleep", "60"])
    found = psutil.Process(ending.pid)
    monkeypatch.setattr(processes, "leftovers", lambda var: [found])
    ending.kill()
    ending.wait()
    assert not servers._old_backends_remain()


@pytest.mark.parametrize(("gib", "cache", "sort"), [(1, 512, 4), (8, 4096, 8), (16, 8192, 16), (512, 65536, 32)])
def test_postgres_takes_its_memory_by_that_of_the_machine(gib, cache, sort):
    found = services.postgres_memory(gib << 30)
    sizes = [found[name] for name in ("effective_cache_size", "work_mem")]
    assert sizes == [f"{cache}MB", f"{sort}MB"]


@pytest.mark.parametrize(("limit", "gib"), [(None, 8), ("max\n", 8), (f"{2 << 30}\n", 2), (f"{64 << 30}\n", 8)])
def test_a_containers_limit_is_its_memory(monkeypatch, tmp_path, limit, gib):
    monkeypatch.setattr(services.os, "sysconf", {"SC_PHYS_PAGES": 8 << 18, "SC_PAGE_SIZE": 4096}.get)
    monkeypatch.setattr(services, "CONTAINER", tmp_path / "memory.max")
    if limit is not None:
        services.CONTAINER.write_text(limit)
    assert services._memory() == gib << 30
