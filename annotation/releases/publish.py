"""Put a release on a hub of data sets: a data repository, with the version as its tag. No Django.

Nothing is sent before `push` is called. The environment sets the destination and the token: HF_ENDPOINT, HF_TOKEN.
A version never changes: an existing tag with other content is refused, and a tag is set last, when the hub lists every
file with the right hash. So an interrupted upload is not a version; run again, it sends what is missing.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from annotation.releases.archive_reader import MANIFEST, ReleaseFiles, as_object
from benchmarks.predictions.cut_captions import listed

if TYPE_CHECKING:
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

USUAL = "https://huggingface.co"
REPO = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
OF_THE_HUB = {".gitattributes"}  # files that a hub adds to every repository
ERRORS = {  # by the hub's status
    401: "The hub does not accept the token in HF_TOKEN.",
    403: "The token in HF_TOKEN may not write to {repo}.",
    404: "The hub has no {repo} that the token in HF_TOKEN can see.",
    409: "Someone else is changing {repo}. Run this again.",
    412: "Someone else changed {repo} in the meantime. Run this again.",
    413: "A file is larger than the hub accepts. Make the release with smaller shards.",
    429: "The hub asks you to wait. Run this again in a few minutes: files already there will not be sent again.",
}
Say = Callable[[str], None]


class CannotPush(ValueError):
    """The release is not on the hub; the message explains why, and never contains the token."""


@dataclass(frozen=True, slots=True)
class Target:
    repo: str  # owner/name
    endpoint: str
    token: str = field(repr=False)
    private: bool = False

    @property
    def address(self) -> str:
        return f"{self.endpoint}/datasets/{self.repo}"


def target(repo: str, private: bool = False, environment: Mapping[str, str] = os.environ) -> Target:
    """Return the target, only from the environment: no file of tokens is read. Raises CannotPush."""
    if not REPO.fullmatch(repo):
        raise CannotPush(f"{repo!r} is not a repository. Name it as owner/name.")
    endpoint = (environment.get("HF_ENDPOINT") or USUAL).rstrip("/")
    if urlsplit(endpoint).scheme not in ("https", "http"):
        raise CannotPush(f"HF_ENDPOINT is {endpoint!r}; it must begin with https://.")
    if not (token := environment.get("HF_TOKEN", "").strip()):
        raise CannotPush("There is no token. Set HF_TOKEN to a hub token with write access, for this command only.")
    return Target(repo, endpoint, token, private)


def push(folder: Path, to: Target, say: Say = print) -> str:
    """Return the release's address on the hub once all of it is there under its version. Raises CannotPush."""
    release = ReleaseFiles(folder)
    wanted = _wanted(release)
    name, version = (release.manifest["release"][part] for part in ("name", "version"))
    title = f"{name} {version}, content {release.manifest['content']}"
    with _errors_in_words(to):
        api = _api(to)
        api.create_repo(to.repo, repo_type="dataset", private=to.private or None, exist_ok=True)
        there = api.repo_info(to.repo, repo_type="dataset")
        if to.private and not there.private:
            raise CannotPush(f"{to.address} already exists and everybody can read it. Nothing was sent.")
        if _is_there(api, to, version, folder, wanted):
            say(f"{title} is already there, with the same content. Nothing was sent.")
        else:
            _refuse_foreign(api, to, wanted)
            _send(api, to, folder, wanted, title, version, there.sha)
    return f"{to.address}/tree/{version}"


def _wanted(release: ReleaseFiles) -> dict[str, str]:
    """Return the SHA-256 of each file by name, from the manifest, and of the manifest itself."""
    wanted = {name: file["sha256"] for name, file in release.manifest["files"].items()}
    wanted[MANIFEST] = hashlib.sha256(release.read(MANIFEST)).hexdigest()
    if others := sorted(set(release.names()) ^ set(wanted)):
        raise CannotPush(f"The folder does not match its manifest: {listed(others)}.")
    return wanted


def _api(to: Target) -> "HfApi":
    """Return the client, which neither reports what is installed here nor asks the user for anything."""
    try:
        from huggingface_hub import HfApi, constants
    except ImportError:
        raise CannotPush(
            "Uploading needs a package that is not installed. Run pip install -r requirements/remote.lock."
        ) from None
    constants.HF_HUB_DISABLE_TELEMETRY = True
    return HfApi(endpoint=to.endpoint, token=to.token)


def _is_there(api: "HfApi", to: Target, version: str, folder: Path, wanted: Mapping[str, str]) -> bool:
    tags = {tag.name: tag.target_commit for tag in api.list_repo_refs(to.repo, repo_type="dataset").tags}
    if version not in tags:
        return False
    if others := differing(api, to.repo, tags[version], folder, wanted):
        raise CannotPush(
            f"{to.address} has a version {version} with different content ({listed(others)}). A version never changes: "
            "make a release with the next version. Nothing was sent."
        )
    return True


def differing(api: "HfApi", repo: str, revision: str, folder: Path, wanted: Mapping[str, str]) -> list[str]:
    """Return the names of files that the hub lacks, has in addition, or has with different content."""
    there = {one.path: one for one in _tree(api, repo, revision)}
    wrong = (set(there) ^ set(wanted)) - OF_THE_HUB
    return sorted(
        wrong | {name for name in set(there) & set(wanted) if not _same(there[name], folder / name, wanted[name])}
    )


def _tree(api: "HfApi", repo: str, revision: str | None = None) -> Iterator["RepoFile"]:
    """Yield every file, without folders."""
    from huggingface_hub.hf_api import RepoFile

    found = api.list_repo_tree(repo, recursive=True, revision=revision, repo_type="dataset")
    return (one for one in found if isinstance(one, RepoFile))


def _same(there: "RepoFile", path: Path, sha256: str) -> bool:
    """Return whether the hub has the file: it lists large files by SHA-256, small ones by git's own hash of them."""
    if there.lfs:
        return there.lfs.sha256 == sha256
    content = path.read_bytes()
    return there.blob_id == hashlib.sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def _refuse_foreign(api: "HfApi", to: Target, wanted: Mapping[str, str]) -> None:
    """Refuse files of no release, which are not ours to remove; earlier versions' files go (their tags keep them)."""
    there = {one.path for one in _tree(api, to.repo)}
    others = there - set(wanted) - OF_THE_HUB
    if not others:
        return
    if MANIFEST in there:
        with TemporaryDirectory() as cache:
            path = api.hf_hub_download(to.repo, MANIFEST, repo_type="dataset", cache_dir=cache)
            earlier = as_object(Path(path).read_bytes(), MANIFEST)
        others -= set(earlier.get("files", {})) if earlier.get("kind") == "release" else set()
    if others:
        raise CannotPush(
            f"{to.address} has files that are not in any release: {listed(sorted(others))}. Use another repository."
        )


def _send(
    api: "HfApi", to: Target, folder: Path, wanted: Mapping[str, str], title: str, version: str, parent: str | None
) -> None:
    """Upload all files, check that the hub lists them unchanged, then set the tag."""
    done = api.upload_folder(
        repo_id=to.repo, repo_type="dataset", folder_path=folder, commit_message=title, parent_commit=parent,
        delete_patterns="*",
    )  # fmt: skip
    if others := differing(api, to.repo, done.oid, folder, wanted):
        raise CannotPush(f"The hub does not have what was sent: {listed(others)}. No version was set; run this again.")
    api.create_tag(to.repo, repo_type="dataset", tag=version, tag_message=title, revision=done.oid)


@contextmanager
def _errors_in_words(to: Target) -> Iterator[None]:
    """Turn any failure of the connection or the hub into a sentence."""
    try:
        yield
    except CannotPush:
        raise
    except Exception as problem:
        raise CannotPush(_words(problem, to).replace(to.token, "…")) from problem


def _words(problem: BaseException, to: Target) -> str:
    chain = [problem]
    while under := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(under)
    for one in chain:
        if status := getattr(getattr(one, "response", None), "status_code", None):
            sentence = ERRORS.get(status, "The hub answered with an error ({status}). Run this again later.")
            message = getattr(one, "server_message", None)
            return sentence.format(repo=to.repo, status=status) + (f" It says: {message}" if message else "")
    last = chain[-1]
    return f"{to.endpoint} cannot be reached, or the upload broke off ({type(last).__name__}: {last}). Run this again."
