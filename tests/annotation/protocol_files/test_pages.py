"""The pages of protocol files: what to start from, the editor, published versions."""

import json
import re
import time
from html import unescape
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.models import ProtocolDraft, ProtocolVersion, Study
from annotation.protocol_files import drafts
from annotation.protocols import library
from annotation.protocols.tasks import tasks_of
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS
from benchmarks.models import Benchmark, Event
from tests.annotation.api.writing import post
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
NEW = "/protocols/"
TEXT = library.text_of("verify")


@pytest.fixture
def draft(manager) -> ProtocolDraft:
    return drafts.start_draft(start="verify", user=manager, by="test", benchmark=studies.benchmark(items=2))


def home(draft: ProtocolDraft) -> str:
    return f"/protocols/drafts/{draft.pk}/"


def save(client, draft: ProtocolDraft, text: str, htmx: bool = True, **more):
    headers = {"HTTP_HX_REQUEST": "true"} if htmx else {}
    return client.post(home(draft), {"text": text, **more}, **headers)


@pytest.mark.parametrize(
    ("start", "text"), [("verify", TEXT), ("prompt-fit@1", library.text_of("prompt-fit")), ("", drafts.EMPTY)]
)
def test_a_draft_starts_from_the_library_a_version_or_nothing(client, manager, start, text):
    declared.published("prompt-fit")
    benchmark = studies.benchmark() if start else None
    answer = client.post(NEW, {"start": start, "benchmark": benchmark.pk if benchmark else ""})
    draft = ProtocolDraft.objects.get()
    assert answer.url == home(draft) and (draft.text, draft.benchmark, draft.owner) == (text, benchmark, manager)
    assert Event.objects.filter(verb="started", subject=f"protocoldraft:{draft.pk}").exists()
    page = client.get(home(draft)).text
    assert ('class="good"' in page) == bool(start)
    assert f'<iframe id="preview" src="{home(draft)}try/{draft.pk}/"' in page or not start


def sent(page: str, **more) -> dict:
    """What a browser sends of the form on the page."""
    form = re.search(r'<form method="post" id="draft".*?</form>', page, re.S)[0]
    given = dict(re.findall(r'<input type="(?:text|number|hidden)" name="(\w+)" value="([^"]*)"', form))
    given |= {
        name: unescape(value)
        for name, value in re.findall(r'<select name="(\w+)".*?value="(\S*)" selected', form, re.S)
    }
    for name, value in re.findall(r'name="(\w+)" value="([^"]*)"[^>]* checked', form):
        given.setdefault(name, []).append(value)
    [given["seen"]] = re.findall(r'name="seen" value="(\w+)"', page)
    return {**given, **more}


def test_the_form_asks_about_the_benchmark_saves_and_leads_to_a_new_study(client, manager):
    benchmark = studies.benchmark(candidates=0)
    url = client.post(NEW, {"start": "", "benchmark": benchmark.pk}).url
    page = client.get(url).text
    given = sent(page)
    assert given["kind"] == ["choose"] and given["options"] == ["captions.positive", "captions.negative"]
    assert "1 caption: “" in page and "Use it in a new study" in page and 'id="id_text"' not in page
    assert unescape(re.search(r'<pre class="file"[^>]*>(.*?)</pre>', page, re.S)[1]) == ProtocolDraft.objects.get().text
    state = client.post(url, {**given, "ask": "Which fits?"}, HTTP_HX_REQUEST="true").text
    draft = ProtocolDraft.objects.get()
    assert "ask: Which fits?\n" in unescape(state) and "<html" not in state and "ask: Which fits?\n" in draft.text
    given = sent(client.get(url).text)
    assert given["ask"] == "Which fits?"
    answer = client.post(url, {**given, "do": "use"})
    assert answer.url == f"/studies/new/?protocol=which-fits@1&benchmark={benchmark.pk}"
    assert client.get(answer.url).status_code == 200 and not ProtocolDraft.objects.exists()
    again = client.post(NEW, {"start": "which-fits@1", "benchmark": benchmark.pk}).url
    given = sent(client.get(again).text)
    assert client.post(again, {**given, "judgments": 2, "least": 1, "do": "use"}).url.startswith(
        "/studies/new/?protocol=which-fits@2"
    )


@pytest.mark.parametrize("htmx", [True, False])
def test_what_the_form_cannot_ask_is_named_and_not_saved(client, manager, htmx):
    url = client.post(NEW, {"start": "", "benchmark": studies.benchmark(candidates=0).pk}).url
    before, given = ProtocolDraft.objects.get().text, sent(client.get(url).text)
    answer = client.post(url, {**given, "options": [], "do": "use"}, **({"HTTP_HX_REQUEST": "true"} if htmx else {}))
    assert answer.status_code == (200 if htmx else 422) and ProtocolDraft.objects.get().text == before
    assert '<a href="#id_options_0">To choose from, rank or compare</a>: Tick at least two' in answer.text
    assert htmx or 'id="problems" role="alert"' in answer.text
    assert not ProtocolVersion.objects.exists()


def test_the_form_gives_way_to_the_editor_once_the_file_says_more(client, manager):
    benchmark = studies.benchmark(candidates=0)
    url = client.post(NEW, {"start": "", "benchmark": benchmark.pk}).url
    assert client.post(url, {**sent(client.get(url).text), "do": "file"}).url == f"{url}?file#state"
    page = client.get(f"{url}?file").text
    assert 'id="id_text"' in page and "Back to the form" in page
    draft = ProtocolDraft.objects.get()
    assert save(client, draft, draft.text, htmx=False, do="save").url == f"{url}?file#state"
    draft = ProtocolDraft.objects.get()
    save(client, draft, draft.text + "leaks: [verify]\n")
    page = client.get(url).text
    assert 'id="id_text"' in page and "Back to the form" not in page


def test_the_form_follows_another_benchmark_with_the_words_of_the_question(client, manager):
    url = client.post(NEW, {"start": "", "benchmark": studies.benchmark(candidates=0).pk}).url
    other = declared.benchmark(library.shipped("preference"))
    given = sent(client.get(url).text, benchmark=other.pk, do="preview", ask="Which is nicer?")
    client.post(url, given)
    draft = ProtocolDraft.objects.get()
    assert draft.benchmark == other and "pairs: images.picture" in draft.text and "ask: Which is nicer?\n" in draft.text
    assert sent(client.get(url).text)["kind"] == ["compare"]


def test_the_questions_are_sorted_for_the_benchmark_that_is_chosen(client, manager):
    assert (
        client.post(NEW, {"benchmark": studies.benchmark().pk}).url == f"{NEW}?benchmark={Benchmark.objects.get().pk}"
    )
    assert not ProtocolDraft.objects.exists()


def test_a_draft_starts_from_no_unknown_protocol(client, manager):
    for start in ("nothing", "verify@1", "verify@x", "verify@", "@1"):
        assert client.post(NEW, {"start": start}).status_code == 404, start


def test_what_suits_the_benchmark_comes_first_with_its_paper_and_needs(client, manager):
    benchmark = studies.benchmark(candidates=0)
    page = client.get(NEW, {"benchmark": benchmark.pk}).text
    assert page.index("Verify captions") < page.index("Choose the image that fits")
    unfit = page[page.index('<li class="unfit">') :]
    assert "Each item needs 2 to 9 candidate images; the first item has none." in unfit
    assert "VALSE (Parcalabescu et al., ACL 2022)" in page and "1 positive image" in page
    assert "Each item needs 1 image as “picture” and 1 text as “prompt”." in page and "3 people judge each item" in page


def test_mistakes_are_kept_and_named_with_line_key_and_remedy(client, draft):
    wrong = TEXT.replace("screen:", "scren:").replace("\n", "\r\n")
    page = save(client, draft, wrong).text
    draft.refresh_from_db()
    assert draft.text == TEXT.replace("screen:", "scren:") and "<html" not in page
    line = draft.text.splitlines().index("scren:") + 1
    assert f'data-line="{line}"' in page and "<code>scren</code>" in page and "Did you mean “screen”?" in page
    whole = save(client, draft, wrong, htmx=False, do="publish")
    assert whole.status_code == 422 and "scren:" in whole.text and not ProtocolVersion.objects.exists()
    assert "It was not published." in whole.text and ProtocolDraft.objects.get().text == draft.text


def test_a_text_that_cannot_be_saved_stays_on_the_page(client, draft):
    page = save(client, draft, "x" * 200_001, htmx=False)
    assert page.status_code == 422 and "x" * 200_001 in page.text and "has not been saved" in page.text
    assert "has not been saved" in save(client, draft, "x" * 200_001).text
    assert ProtocolDraft.objects.get().text == TEXT


SIX = ", ".join(f"captions.r{place}" for place in range(6))
BOMB = f"""winnow: protocol/1
name: bomb
title: Bomb
ask: Fits?
instructions: x
item: {{captions: {{r0: 1.., r1: 1.., r2: 1.., r3: 1.., r4: 1.., r5: 1..}}}}
tasks: {{each: {{a: [{SIX}], b: [{SIX}], c: [{SIX}], d: [{SIX}], e: [{SIX}]}}}}
screen: [sentence: a, sentence: b, sentence: c, sentence: d, sentence: e]
answers: [{{name: fit, kind: pick, fixed: {{ok: OK, bad: Bad}}}}]
right: {{fit: {{x: ok}}}}
"""


def test_a_file_that_would_make_too_many_tasks_is_refused_wherever_it_comes_in(client, draft, tmp_path):
    words = "An item would make at least 7,776 tasks, but it can have at most 1,000."
    (tmp_path / "bomb.yaml").write_text(BOMB)
    started, out = time.process_time(), StringIO()
    with pytest.raises(CommandError):
        call_command("try_protocol", str(tmp_path / "bomb.yaml"), stdout=out)
    said = [
        out.getvalue(),
        post(client, "api-protocol-list", text=BOMB, expects=400).text,
        save(client, draft, BOMB).text,
        client.get(home(draft)).text,
        client.get(f"{home(draft)}try/1/").text,
    ]
    assert [words in one for one in said] == [True, True, True, True, False]
    assert time.process_time() - started < 2  # 6⁵ tasks for 9⁵ members each took all memory
    assert not ProtocolVersion.objects.exists()


def test_a_draft_is_listed_under_its_title(client, manager):
    texts = {"title: 'Fits'  ": "Fits", 'a: b\ntitle:   "Two"': "Two", "title:": "", "subtitle: x": "", "": ""}
    assert {text: drafts.title_in(text) for text in texts} == texts
    draft = ProtocolDraft.objects.create(owner=manager, text="title: a" + " " * 150_000 + "b")
    started = time.process_time()
    assert home(draft) in client.get(NEW).text
    assert time.process_time() - started < 2


@pytest.mark.parametrize("htmx", [True, False])
def test_a_text_from_another_window_is_not_overwritten_unseen(client, draft, htmx):
    page = client.get(home(draft)).text
    [seen] = re.findall(r'name="seen" value="(\w+)"', page)
    other = save(client, draft, "winnow: protocol/1 # other\n", seen=seen).text
    refused = save(client, draft, "# mine\n", htmx, seen=seen)
    assert "changed in another window" in refused.text and "Save this text anyway" in refused.text
    assert htmx or "# mine" in refused.text
    draft.refresh_from_db()
    assert draft.text == "winnow: protocol/1 # other\n"
    [now] = re.findall(r'name="seen" value="(\w+)"', refused.text)
    assert now == seen != re.findall(r'name="seen" value="(\w+)"', other)[0]
    save(client, draft, "# mine\n", htmx=False, seen=seen, do="overwrite")
    draft.refresh_from_db()
    assert draft.text == "# mine\n"


def test_the_text_in_the_editor_is_that_of_the_draft(client, draft):
    for text in ("winnow: protocol/1\n", "\n\n  a: <b>\n\n", " a", ""):
        save(client, draft, text)
        [shown] = re.findall(r"<textarea id=\"id_text\"[^>]*>(.*?)</textarea>", client.get(home(draft)).text, re.S)
        assert unescape(shown).removeprefix("\n") == text, "a browser leaves out the first line end"


def test_html_in_a_draft_stays_text(client, draft):
    save(client, draft, "title: <script>alert(1)</script>\n</textarea><script>alert(2)</script>")
    for url in (home(draft), NEW):
        assert "<script>alert" not in client.get(url).text


def test_a_draft_is_published_and_a_study_made_of_it(client, draft):
    answer = save(client, draft, TEXT.replace("judgments: 3", "judgments: 2"), htmx=False, do="publish")
    url, _, query = answer.url.partition("?")
    assert (url, query) == ("/protocols/published/verify@1/", f"benchmark={draft.benchmark_id}")
    page = client.get(answer.url).text
    assert not ProtocolDraft.objects.exists()
    version = ProtocolVersion.objects.get()
    assert version.sha256 in page and "by ana" in page and "judgments: 2" in page and "2 judgments per task" in page
    assert f"?protocol=verify@1&amp;{query}" in page
    study = studies.study(benchmark=studies.benchmark(items=1), protocol="verify@1")
    assert study.name in client.get(url).text
    assert f'href="{url}"' in client.get(f"/studies/{study.pk}/stages/1/").text


def test_a_version_shows_ones_own_studies_alone(client, manager):
    declared.published("verify")
    study = studies.study(benchmark=studies.benchmark(items=1), protocol="verify@1")
    client.force_login(User.objects.create_user("ben", is_staff=True))
    page = client.get("/protocols/published/verify@1/")
    assert page.status_code == 200 and study.name not in page.text
    for name in ("verify@2", "verify@0", "verify@", "verify", "verify@x", "nothing@1"):
        assert client.get(f"/protocols/published/{name}/").status_code == 404


def test_a_name_of_somebody_else_keeps_the_draft(client, draft):
    declared.published("verify")
    client.force_login(ben := User.objects.create_user("ben", is_staff=True))
    ProtocolDraft.objects.update(owner=ben)
    page = save(client, draft, TEXT + "\n# mine\n", htmx=False, do="publish")
    assert page.status_code == 422 and "Give yours another name." in page.text
    assert ProtocolDraft.objects.get().text == TEXT + "\n# mine\n"


def test_a_draft_is_discarded(client, draft):
    assert save(client, draft, TEXT, htmx=False, do="discard").url == NEW
    assert not ProtocolDraft.objects.exists() and Event.objects.filter(verb="discarded").exists()


def test_a_draft_that_does_not_suit_its_benchmark_says_why(client, draft):
    page = save(client, draft, library.text_of("bivlc-choose"), benchmark=studies.benchmark(candidates=0).pk).text
    assert "No problems" in page and "Each item needs 2 to 9 candidate images; the first item has none." in page


def test_a_new_study_of_a_version_has_the_files_settings(client, manager):
    declared.published("image-caption-foil")
    benchmark = studies.benchmark(items=2)
    form = client.get("/studies/new/", {"protocol": "image-caption-foil@1", "benchmark": benchmark.pk}).text
    names = set(re.findall(r'name="image-caption-foil-(\w+)"', form))
    assert {"quota", "strategy"} <= names and not {"rule", "tie_rule"} & names
    assert re.search(r'name="image-caption-foil-overlap" value="3"[^>]*min="2"', form)
    assert "The question suggests 3. At least 2 people must give the same answer." in unescape(form)
    sent = {
        "protocol": "image-caption-foil@1", "benchmark": benchmark.pk, "name": "Ours", "pay_per_hour": 0,
        "currency": "USD",
        **{f"image-caption-foil-{name}": value for name, value in {
            "strategy": "pool", "lease_seconds": 600, "undo_seconds": 600, "seconds": 12, "instructions": "Look.",
            "check_rate": 0, "practice_pass": 80, "practice_tries": 2, "on_failure": "flag", "overlap": 5,
        }.items()},
    }  # fmt: skip
    answer = client.post("/studies/new/", sent)
    assert answer.status_code == 302, re.findall(r'class="errorlist"[^/]*/li>', answer.text)
    stage = Study.objects.get().stages.get()
    assert (stage.protocol, stage.overlap, stage.rule) == ("image-caption-foil@1", 5, "majority")
    few = client.post("/studies/new/", {**sent, "name": "Few", "image-caption-foil-overlap": 1})
    assert "must give the same answer. Enter 2 or more." in few.text
    offered = client.get("/studies/new/", {"benchmark": benchmark.pk}).text
    assert 'value="protocol:image-caption-foil@1"' in offered  # and not as the library's once more
    assert 'name="choose" value="protocol:image-caption-foil"' not in offered


@pytest.mark.parametrize("question, status", [("verify", 200), ("image-caption-foil", 200), ("nothing", 404)])
def test_a_question_is_tried_on_the_benchmarks_items_without_a_study(client, manager, question, status):
    older, newest = (studies.benchmark(items=2, name=name) for name in ("A", "B"))
    page = client.get("/protocols/").text
    assert f'href="/protocols/verify/try/{newest.pk}/' in page and f"/try/{older.pk}/" not in page
    answer = client.get(home := f"/protocols/{question}/try/{older.pk}/7/")
    assert answer.status_code == status
    if status == 200:
        token = re.search(r'name="lease" value="([^"]+)"', answer.text)[1]
        client.post(f"{home}skip/", {"lease": token})
        end = client.get(home, {"end": ""}).text
        assert "Nothing was stored." in end and f'href="/protocols/?benchmark={older.pk}"' in end
    assert not Study.objects.exists() and not ProtocolDraft.objects.exists()


GUIDE = Path(settings.BASE_DIR, "docs/guide/own-protocol.md").read_text()


def test_the_guides_file_passes_and_its_script_makes_a_manifest(tmp_path, monkeypatch):
    """Of a sample in VALSE's layout, one item of which has no image."""
    [file], [script] = (re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.S) for kind in ("yaml", "python"))
    assert len(file.splitlines()) <= 60
    (tmp_path / "mine.yaml").write_text(file)
    call_command("try_protocol", str(tmp_path / "mine.yaml"), "--items", "2", stdout=StringIO())
    sample = {f"{n}": {"image_file": f"{n}.jpg", "caption": "A cup.", "foil": "Two cups."} for n in range(2)}
    for name in ("plurals", "relations"):
        (tmp_path / f"{name}.json").write_text(json.dumps({f"{name}:{key}": of for key, of in sample.items()}))
    (tmp_path / "images").mkdir()
    (tmp_path / "images/1.jpg").touch()
    monkeypatch.chdir(tmp_path)
    exec(script, {})
    log = ProblemLog()
    records = list(FORMATS["jsonl"].read(tmp_path / "sample.jsonl", log))
    assert log.problems == [] and [record.key for record in records] == ["plurals:1", "relations:1"]
    of = library.read_stored(file, "mine")
    assert [len(tasks_of(of, record, {})) for record in records] == [1, 1]
