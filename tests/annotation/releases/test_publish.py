"""A release is uploaded whole or is no version; a version never changes; what goes wrong is a sentence.

The hub is a stand-in (releases/hub_stand_in.py): these tests reach no other machine.
"""

import hashlib
import json
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from huggingface_hub import constants

from annotation.releases import publish
from annotation.releases.plan import Plan
from annotation.releases.publish import CannotPush
from annotation.releases.verification import verifying
from annotation.releases.verification.report import Report
from tests.annotation.releases.hub_stand_in import TOKEN, Announced, StandIn
from tests.annotation.releases.released import contents

REPO = "lab/cats"


@pytest.fixture
def there(monkeypatch, tmp_path):
    """The stand-in, with the environment that leads to it. Large files go over plain HTTP."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    stand_in = StandIn()
    monkeypatch.setenv("HF_ENDPOINT", stand_in.address)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    yield stand_in
    stand_in.close()


def release(folder: Path, version: str = "1.0", **files: str) -> Path:
    """A folder that says of its files what they are; `files` by their names' stems."""
    texts = {"README.md": f"# cats {version}\n", "items.jsonl": '{"id": "1"}\n', "data/test.parquet": "x" * 5000}
    texts |= {f"csv/{name}.csv": text for name, text in files.items()}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    listed = {
        name: {"sha256": hashlib.sha256(text.encode()).hexdigest(), "bytes": len(text)} for name, text in texts.items()
    }
    plan = Plan("cats", version).as_json()
    manifest = {"made_by": "Winnow", "kind": "release", "schema_version": 1, "release": plan, "files": listed}
    manifest["content"] = f"c0ffee{version}"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def pushed(folder: Path, private: bool = False) -> str:
    return publish.push(folder, publish.target(REPO, private), lambda said: None)


def at(there: StandIn, revision: str) -> dict[str, bytes]:
    found = dict(there.repos[REPO].files(revision))
    del found[".gitattributes"]
    return found


def test_every_file_arrives_and_the_version_is_a_tag(there, tmp_path):
    folder = release(tmp_path / "a", test="id\n")
    before = contents(folder)
    assert pushed(folder) == f"{there.address}/datasets/{REPO}/tree/1.0"
    repo = there.repos[REPO]
    assert at(there, "1.0") == before == contents(folder)
    assert repo.commits[-1][1] == "cats 1.0, content c0ffee1.0" and not repo.private
    assert repo.tags == {"1.0": repo.head}


def test_large_files_go_the_way_that_can_be_resumed(there, tmp_path, monkeypatch):
    """By the xet protocol, which is what people have who install the requirements."""
    pytest.importorskip("hf_xet")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    (tmp_path / "chunks").mkdir()
    there.chunks = str(tmp_path / "chunks")
    folder = release(tmp_path / "a", test="id\n")
    pushed(folder)
    found = there.repos[REPO].files("1.0")
    wanted = json.loads((folder / "manifest.json").read_text())["files"]["data/test.parquet"]
    assert found["data/test.parquet"] == Announced(wanted["sha256"], 5000)
    assert found["items.jsonl"] == (folder / "items.jsonl").read_bytes()
    assert list((tmp_path / "chunks").rglob("xorbs/default.*")) and there.large == {}


def test_nothing_is_told_of_what_is_installed(there, tmp_path):
    pushed(release(tmp_path / "a"))
    assert there.agents and not [told for told in there.agents if "torch" in told or "agent/" in told]


def test_the_next_version_takes_the_place_and_the_former_stays(there, tmp_path):
    pushed(release(tmp_path / "a", test="id\n", train="id\n"))
    pushed(release(tmp_path / "b", "1.1", test="id,type\n"))
    assert at(there, "1.0") == contents(tmp_path / "a")
    assert at(there, "1.1") == at(there, "main") == contents(tmp_path / "b")


def test_the_same_version_again_sends_nothing(there, tmp_path):
    pushed(release(tmp_path / "a"))
    there.asked.clear()
    pushed(tmp_path / "a")
    assert not [asked for asked in there.asked if "/commit/" in asked or "/tag/" in asked]


def test_a_version_never_changes(there, tmp_path):
    pushed(release(tmp_path / "a"))
    head = there.repos[REPO].head
    with pytest.raises(CannotPush, match=r"1\.0 with different content"):
        pushed(release(tmp_path / "b", test="id\n"))
    assert there.repos[REPO].head == head


def test_somebody_elses_files_are_not_removed(there, tmp_path):
    there.make(REPO, files={"model.bin": b"theirs"})
    with pytest.raises(CannotPush, match=r"files that are not in any release: model\.bin"):
        pushed(release(tmp_path / "a"))
    assert "model.bin" in at(there, "main")


def test_private_is_private_or_nothing_is_sent(there, tmp_path):
    pushed(release(tmp_path / "a"), private=True)
    assert there.repos[REPO].private
    there.make(REPO)
    with pytest.raises(CannotPush, match="everybody can read it"):
        pushed(tmp_path / "a", private=True)
    assert at(there, "main") == {}


def test_an_upload_that_broke_off_is_no_version_and_goes_on_where_it_was(there, tmp_path):
    folder = release(tmp_path / "a", big="y" * 3000)
    there.fail = lambda asked: 0 if "/commit/" in asked else None
    with pytest.raises(CannotPush, match="cannot be reached, or the upload broke off"):
        pushed(folder)
    assert there.repos[REPO].tags == {} and len(there.large) >= 2
    there.fail, there.asked = (lambda asked: None), []
    pushed(folder)
    assert at(there, "1.0") == contents(folder) and not [asked for asked in there.asked if asked.startswith("PUT")]


def test_what_arrives_damaged_is_no_version(there, tmp_path):
    there.damage = lambda name, content: content[:-1] if name in ("items.jsonl", "data/test.parquet") else content
    with pytest.raises(CannotPush, match=r"does not have what was sent: data/test\.parquet, items\.jsonl"):
        pushed(release(tmp_path / "a"))
    assert there.repos[REPO].tags == {}


@pytest.mark.parametrize(
    ("status", "where", "said"),
    [
        (401, "/api/repos/create", "does not accept the token"),
        (403, "/commit/", "may not write to lab/cats"),
        (404, "/refs", "has no lab/cats"),
        (409, "/tag/", "Someone else is changing"),
        (412, "/commit/", "Someone else changed"),
        (500, "/tag/", r"answered with an error \(500\)"),
        (0, "/api/repos/create", "cannot be reached"),
    ],
)
def test_what_the_hub_refuses_is_a_sentence_without_the_token(there, tmp_path, status, where, said):
    there.fail = lambda asked: status if where in asked else None
    with pytest.raises(CannotPush, match=said) as caught:
        pushed(release(tmp_path / "a"))
    assert TOKEN not in str(caught.value) and "1.0" not in there.repos.get(REPO, there.make("lab/none")).tags


def test_without_the_package_that_uploads_a_sentence_names_it(there, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(CannotPush, match=r"requirements/remote\.lock\.$"):
        pushed(release(tmp_path / "a"))
    assert there.asked == []


def test_nobody_is_there(there, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(CannotPush, match=r"http://127\.0\.0\.1:9 cannot be reached"):
        pushed(release(tmp_path / "a"))


@pytest.mark.parametrize(
    ("repo", "environment", "said"),
    [
        ("cats", {"HF_TOKEN": "t"}, "owner/name"),
        ("lab/../x", {"HF_TOKEN": "t"}, "owner/name"),
        (REPO, {}, "Set HF_TOKEN"),
        (REPO, {"HF_TOKEN": "t", "HF_ENDPOINT": "hub.example"}, "https://"),
    ],
)
def test_where_to_is_checked_first(repo, environment, said):
    with pytest.raises(CannotPush, match=said):
        publish.target(repo, environment=environment)


def test_the_token_is_in_no_words():
    assert TOKEN not in repr(publish.target(REPO, environment={"HF_TOKEN": TOKEN}))


def test_a_folder_with_other_files_is_refused(there, tmp_path):
    (release(tmp_path / "a") / "notes.md").write_text("mine")
    with pytest.raises(CannotPush, match=r"notes\.md"):
        pushed(tmp_path / "a")
    assert there.asked == []


# The command


@pytest.fixture
def verified(monkeypatch):
    """Verification finds nothing wrong, or what is put into the report."""
    report = Report()
    monkeypatch.setattr(verifying, "verify", lambda folder: report)
    return report


def test_the_command_says_where_to_and_asks(there, tmp_path, verified, monkeypatch, capsys):
    release(tmp_path / "a")
    monkeypatch.setattr("builtins.input", lambda words: "no")
    with pytest.raises(CommandError, match="Nothing was sent"):
        call_command("push_release", str(tmp_path / "a"), "--to", REPO)
    assert f"will be uploaded to {there.address}/datasets/{REPO}, visible to everyone" in capsys.readouterr().out
    assert there.asked == []
    call_command("push_release", str(tmp_path / "a"), "--to", REPO, "--yes", "--private")
    assert f"Uploaded to {there.address}/datasets/{REPO}/tree/1.0" in capsys.readouterr().out
    assert there.repos[REPO].private


def test_what_is_not_as_it_should_be_is_not_sent(there, tmp_path, verified):
    verified.problem("items.jsonl", "line 3 is another item's")
    with pytest.raises(CommandError, match=r"items\.jsonl: line 3"):
        call_command("push_release", str(release(tmp_path / "a")), "--to", REPO, "--yes")
    assert there.asked == []


def test_without_anybody_to_ask_nothing_is_sent(there, tmp_path, verified, monkeypatch):
    def nobody(words):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    with pytest.raises(CommandError, match="Use --yes"):
        call_command("push_release", str(release(tmp_path / "a")), "--to", REPO)
    assert there.asked == []
