"""A hub for tests: the addresses of a hub of data sets that huggingface_hub asks when it uploads, on this machine.

It keeps what it gets in memory, refuses a file whose SHA-256 is not the one it was announced with, and can be told to
fail. Where a folder is named, large files go there by the xet protocol, as they do to the real hub: the library that
speaks it can write to a folder instead of a server. Of those only what was announced is kept.

It was written after what the library sends. Whether the real hub answers so, no test here can tell.
"""

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

TOKEN = "hf_standin"
LARGE = 200  # bytes; what has more is stored as a large file


@dataclass(frozen=True)
class Announced:
    """A large file that went another way."""

    sha256: str
    size: int


@dataclass
class Repo:
    private: bool
    commits: list[tuple[str, str, dict[str, bytes | Announced]]] = field(default_factory=list)  # oid, message, files
    tags: dict[str, str] = field(default_factory=dict)

    def files(self, revision: str) -> dict[str, bytes]:
        wanted = self.tags.get(revision, revision)
        return next(files for oid, _, files in reversed(self.commits) if wanted in (oid, "main"))

    def commit(self, message: str, files: dict[str, bytes]) -> str:
        oid = hashlib.sha1(f"{len(self.commits)} {message}".encode()).hexdigest()
        self.commits.append((oid, message, files))
        return oid

    @property
    def head(self) -> str:
        return self.commits[-1][0]


class StandIn:
    def __init__(self):
        self.repos: dict[str, Repo] = {}
        self.large: dict[str, bytes] = {}
        self.asked: list[str] = []  # "METHOD address"
        self.agents: set[str] = set()  # what the library says of itself
        self.chunks: str = ""  # the folder for large files
        self.fail: Callable[[str], int | None] = lambda asked: None  # the status to fail with; 0: hang up
        self.damage: Callable[[str, bytes], bytes] = lambda name, content: content
        handler = type("Bound", (Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def make(self, name: str, private: bool = False, files: dict[str, bytes] | None = None) -> Repo:
        self.repos[name] = Repo(private)
        self.repos[name].commit("initial commit", {".gitattributes": b"*.parquet filter=lfs\n", **(files or {})})
        return self.repos[name]


class Handler(BaseHTTPRequestHandler):
    hub: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        asked = f"{self.command} {self.path}"
        self.hub.asked.append(asked)
        self.hub.agents.add(self.headers["User-Agent"])
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status = self.hub.fail(asked)
        if status == 0:
            self.close_connection = True
            return
        if status:
            self.answer({"error": f"told to fail, with {self.headers['Authorization']}"}, status)
        elif not asked.startswith("PUT /large/") and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.answer({"error": "Invalid credentials"}, 401)
        else:
            self.route(asked)

    do_POST = do_PUT = do_HEAD = do_GET

    def route(self, asked: str) -> None:
        for pattern, method in ROUTES.items():
            if found := re.fullmatch(pattern, unquote(urlsplit(asked).path)):
                getattr(self, method)(*found.groups())
                return
        self.answer({"error": f"the stand-in knows no {asked}"}, 501)

    def answer(self, found: object, status: int = 200, **headers: str) -> None:
        content = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def repo(self, name: str) -> Repo | None:
        if name not in self.hub.repos:
            self.answer({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
        return self.hub.repos.get(name)

    def create(self) -> None:
        asked = json.loads(self.body)
        name = f"{asked['organization']}/{asked['name']}"
        status = 409 if name in self.hub.repos else 200
        if status == 200:
            self.hub.make(name, asked.get("visibility") == "private")
        self.answer({"url": f"{self.hub.address}/datasets/{name}", "name": name}, status)

    def valid(self) -> None:
        self.answer({"errors": [], "warnings": []})

    def info(self, name: str) -> None:
        if repo := self.repo(name):
            files = [{"rfilename": path} for path in repo.files("main")]
            self.answer({"id": name, "sha": repo.head, "private": repo.private, "siblings": files, "tags": []})

    def refs(self, name: str) -> None:
        repo = self.hub.repos[name]
        main = [{"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}]
        tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": oid} for tag, oid in repo.tags.items()]
        self.answer({"branches": main, "converts": [], "tags": tags})

    def tree(self, name: str, revision: str) -> None:
        self.answer([_listed(*pair) for pair in sorted(self.hub.repos[name].files(revision).items())])

    def preupload(self, name: str, revision: str) -> None:
        there, files = self.hub.repos[name].files(revision), []
        for asked in json.loads(self.body)["files"]:
            mode = "lfs" if asked["size"] > LARGE else "regular"
            oid = _oid(there[asked["path"]]) if asked["path"] in there else None
            files.append({"path": asked["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self.answer({"files": files})

    def batch(self, name: str) -> None:
        found = []
        for one in json.loads(self.body)["objects"]:
            upload = {"upload": {"href": f"{self.hub.address}/large/{one['oid']}"}}
            found.append(one | ({} if one["oid"] in self.hub.large else {"actions": upload}))
        self.answer({"transfer": "basic", "objects": found})

    def put(self, oid: str) -> None:
        if hashlib.sha256(self.body).hexdigest() != oid:
            self.answer({"error": "another content"}, 422)
            return
        self.hub.large[oid] = self.body
        self.answer({})

    def commit(self, name: str, revision: str) -> None:
        repo = self.hub.repos[name]
        lines = [json.loads(line) for line in self.body.splitlines()]
        if lines[0]["value"].get("parentCommit", repo.head) != repo.head:
            self.answer({"error": "A commit has happened since."}, 412)
            return
        files = dict(repo.files(revision))
        for line in lines[1:]:
            value = line["value"]
            files.pop(value["path"], None)
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                stored = Announced(value["oid"], value["size"])
                files[value["path"]] = stored if self.hub.chunks else self.hub.large[value["oid"]]
        files = {path: self.hub.damage(path, content) for path, content in files.items()}
        oid = repo.commit(lines[0]["value"]["summary"], files)
        self.answer({"commitUrl": f"{self.hub.address}/datasets/{name}/commit/{oid}", "commitOid": oid})

    def xet(self, name: str, revision: str) -> None:
        self.answer({"casUrl": f"local://{self.hub.chunks}", "accessToken": "x", "exp": int(time.time()) + 3600})

    def tag(self, name: str, revision: str) -> None:
        repo, tag = self.hub.repos[name], json.loads(self.body)["tag"]
        if tag in repo.tags:
            self.answer({"error": "Tag reference exists already."}, 409)
            return
        repo.tags[tag] = revision
        self.answer({})

    def resolve(self, name: str, revision: str, path: str) -> None:
        repo = self.hub.repos[name]
        content = repo.files(revision)[path]
        self.answer(content, X_Repo_Commit=repo.head, ETag=f'"{_oid(content)}"')


ROUTES = {
    r"POST /api/repos/create": "create",
    r"POST /api/validate-yaml": "valid",
    r"GET /api/datasets/([^/]+/[^/]+)": "info",
    r"GET /api/datasets/([^/]+/[^/]+)/revision/[^/]+": "info",
    r"GET /api/datasets/([^/]+/[^/]+)/refs": "refs",
    r"GET /api/datasets/([^/]+/[^/]+)/tree/([^/]+)": "tree",
    r"POST /api/datasets/([^/]+/[^/]+)/preupload/([^/]+)": "preupload",
    r"POST /datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch": "batch",
    r"PUT /large/([0-9a-f]+)": "put",
    r"POST /api/datasets/([^/]+/[^/]+)/commit/([^/]+)": "commit",
    r"GET /api/datasets/([^/]+/[^/]+)/xet-write-token/([^/]+)": "xet",
    r"POST /api/datasets/([^/]+/[^/]+)/tag/([^/]+)": "tag",
    r"(?:GET|HEAD) /datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)": "resolve",
}


def _large(content: bytes | Announced) -> Announced | None:
    if isinstance(content, bytes):
        return Announced(hashlib.sha256(content).hexdigest(), len(content)) if len(content) > LARGE else None
    return content


def _oid(content: bytes | Announced) -> str:
    """What git calls a file; of a large one, of the pointer that stands for it."""
    if large := _large(content):
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{large.sha256}\nsize {large.size}\n"
        content = pointer.encode()
    return hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()


def _listed(path: str, content: bytes | Announced) -> dict:
    large = _large(content)
    found = {"type": "file", "path": path, "size": large.size if large else len(content), "oid": _oid(content)}
    lfs = {"oid": large.sha256, "size": large.size, "pointerSize": 130} if large else None
    return found | ({"lfs": lfs} if lfs else {})
