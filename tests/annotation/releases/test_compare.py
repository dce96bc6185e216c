"""Two releases beside each other: each kind of change is found, with the reason that the files tell."""

import json
import time
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from annotation.exports.files import JUDGMENTS
from annotation.exports.readme import OF_STAGE
from annotation.pipeline import audits
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.compare import DECIDING, compare
from annotation.releases.compare_wording import sentences
from annotation.releases.plan import Plan

CHOOSE = {"name": "choose", "position": 1, "overlap": 1, "tie_rule": "drop", "state": "open",
          "instructions": [{"version": 1, "text": "Pick one."}], "not_suitable": []}  # fmt: skip


def decision(stage="choose", state="kept", votes=None, round=1, by="majority", **facts) -> dict:
    outcome = {"kept": "candidate-1", "dropped": "none", "open": None}[state]
    found = {
        "stage": stage, "stage_position": 1 if stage == "choose" else 2, "question": "", "round": round, "state": state,
        "outcome": outcome, "reason": "no_image_fits" if state == "dropped" else None,
        "decided_by": None if state == "open" else by, "votes": {outcome: 1} if votes is None else votes,
    }  # fmt: skip
    return found | facts


LEFT_OUT = ("check_item", "not_sampled", "not_suitable")


def line(key: str, *decisions: dict, **facts) -> dict:
    """Of a kept item; `reason` makes it one that was dropped or not asked about."""
    captions = [{"role": "positive", "text": f"A cat {key}."}, {"role": "negative", "text": f"A dog {key}."}]
    image = {"key": "candidate-1", "chosen": True, "round": 1, "sha256": "11", "format": "JPEG", "licence": ""}
    found = {
        "id": key, "position": int(key), "type": "replace", "subtype": "obj", "stage": "choose", "captions": captions,
        "images": [image], "meta": {}, "decisions": list(decisions) or [decision()],
    }  # fmt: skip
    if "reason" not in facts:
        found |= {"negative_image": "candidate-1", "split": "test"}
    return found | facts


def gone(key: str, *decisions: dict, reason: str = "no_image_fits", **facts) -> dict:
    return line(key, *(decisions or [decision(state="dropped")]), reason=reason, **facts)


def judgment(item: str, who: str, answer: str = "none", stage: str = "choose", counted: bool = True) -> dict:
    found = dict.fromkeys(JUDGMENTS.names) | {"stage": stage, "item": item, "question": "", "round": 1, "kind": "judge"}
    return found | {"live": True, "annotator": who, "answer": answer, "counted": counted}


def task(item: str, stage: str = "choose", **facts) -> dict:
    found = {"stage": stage, "item": item, "question": "", "round": 1, "kind": "judge", "live": True, "own": True}
    return found | {"state": None, "outcome": None, "reason": None, "decided_by": None} | facts


@pytest.fixture
def release(tmp_path):
    """`release(kept, dropped, open=[tasks], judgments=[rows], **of the manifest) -> ReleaseFiles`."""

    def make(kept=(), dropped=(), open=(), judgments=(), plan=None, stages=(CHOOSE,), imported=None, **manifest):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        left = [one for one in dropped if one["reason"] in LEFT_OUT]
        decided = [one for one in dropped if one not in left]
        for name, rows in (("items", kept), ("dropped", decided), ("not_asked", left), ("tasks", open)):
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{name}.jsonl").write_text(text)
        pq.write_table(pa.Table.from_pylist(list(judgments), JUDGMENTS), folder / "judgments.parquet")
        found = len(kept) + len(dropped) + len({row["item"] for row in open})
        whole = {
            "made_by": "Winnow", "kind": "release", "version": "0.6.0", "schema_version": 1,
            "content": "aa", "files": {},
            "release": Plan("cats", "1.0").as_json() | (plan or {}), "stages": list(stages), "exclusions": [],
            "counts": {"imported": imported or found}, "moved": {}, **manifest,
        }  # fmt: skip
        (folder / "manifest.json").write_text(json.dumps(whole))
        return ReleaseFiles(folder)

    return make


def codes(found: dict, group: str) -> dict[str, list[str]]:
    return {one["id"]: [reason["code"] for reason in one["reasons"]] for one in found["items"][group]}


# Why an item came, or went


def test_the_same_twice_differs_in_nothing(release):
    found = compare(*(release([line("1")], [gone("2")], [task("3")]) for _ in range(2)))
    assert found["same"] and found["totals"]["unchanged"] == 1
    assert list(sentences(found)) == ["cats 1.0 → cats 1.0", "Nothing differs."]


def test_what_was_open_and_is_decided_now(release):
    before = release([], [], [task("1"), task("2")], [judgment("1", "A-01", "candidate-1")])
    after = release([line("1", decision(votes={"candidate-1": 2, "none": 1}))], [gone("2")])
    found = compare(before, after)
    (reason,) = found["items"]["added"][0]["reasons"]
    assert (reason["code"], reason["more"]) == ("was_open", 2)
    assert reason["votes"] == [{"candidate-1": 1}, {"candidate-1": 2, "none": 1}]
    assert codes(found, "outside") == {"2": ["was_open"]}
    assert {(one["from"], one["to"]): one["items"] for one in found["moves"]} == {
        ("open", "kept"): 1,
        ("open", "dropped"): 1,
    }


@pytest.mark.parametrize(
    ("before", "after", "code", "words"),
    [
        (decision(state="dropped", by="tie_rule"), decision(by="adjudicator"), "adjudication", "adjudicated since in"),
        (decision(state="dropped", by="adjudicator"), decision(by="adjudicator"), "adjudication", "adjudicated again"),
        (decision(state="dropped", by="adjudicator"), decision(), "adjudication", "the adjudication was lifted in"),
        (decision(state="dropped"), decision(round=2), "asked_again", "asked again in choose, round 2"),
        (decision(state="dropped"), decision(votes={"none": 1, "candidate-1": 2}), "judgments", "2 more judgments in"),
        (decision(state="dropped", votes={"none": 3}), decision(), "judgments", "2 fewer judgments in choose: none 3"),
        (decision(state="dropped"), decision(votes={"candidate-1": 1}), "judgments", "judgments were changed in"),
        (
            decision(state="dropped", posterior=0.5, votes={}),
            decision(posterior=0.9, votes={}),
            "estimate",
            "the Dawid–Skene estimate changed in choose (kept, majority)",
        ),
        (decision(state="dropped", votes={}), decision(votes={}), "unknown", "the files give no reason in choose"),
    ],
)
def test_why_a_stage_says_something_else(release, before, after, code, words):
    found = compare(release([], [gone("1", before)]), release([line("1", after)]))
    assert codes(found, "added") == {"1": [code]}
    assert found["reasons"] == {"added": [{"code": code, "items": 1}]}
    assert f"why: {words}" in list(sentences(found))[-1]
    back = compare(release([line("1", after)]), release([], [gone("1", before)]))
    assert [one["id"] for one in back["items"]["dropped"]] == ["1"]


def test_what_was_adjudicated_while_open_says_so(release):
    found = compare(release([], [], [task("1")]), release([line("1", decision(by="adjudicator"))]))
    assert codes(found, "added") == {"1": ["adjudication"]}


def test_an_excluded_annotator_is_the_reason_where_they_judged(release):
    votes = {"none": 2}, {"none": 1}
    judged = [judgment("1", "A-01"), judgment("1", "A-02"), judgment("2", "A-02"), judgment("3", "A-01", counted=False)]
    before = release([line(key, decision(votes=votes[0])) for key in "123"], judgments=judged)
    dropped = [gone(key, decision(state="dropped", votes=votes[1])) for key in "123"]
    excluded = [{"annotator": "A-01", "reason": "Clicked at random"}]
    found = compare(before, release([], dropped, exclusions=excluded))
    assert codes(found, "dropped") == {"1": ["exclusion"], "2": ["judgments"], "3": ["judgments"]}
    assert found["items"]["dropped"][0]["reasons"][0]["annotators"] == {"A-01": "Clicked at random"}
    said = list(sentences(found))
    assert "Annotator A-01 is excluded since: Clicked at random." in said
    assert "A-01 (Clicked at random) judged it in choose and is excluded since (dropped, majority)." in said[-3]


def test_an_exclusion_that_was_lifted(release):
    one = [{"annotator": "A-01", "reason": "By mistake"}]
    after = release([line("1", decision(votes={"none": 2}))], judgments=[judgment("1", "A-01")])
    found = compare(release([], [], [task("1")], exclusions=one), after)
    assert codes(found, "added") == {"1": ["exclusion"]}
    assert "A-01 (By mistake) judged it in choose and is no longer excluded" in list(sentences(found))[-1]


def test_settings_are_the_reason_where_the_votes_are_the_same(release):
    votes = {"none": 1, "candidate-1": 1}
    changed = CHOOSE | {"tie_rule": "first", "state": "closed"}
    before = release([], [gone("1", decision(state="dropped", votes=votes))])
    found = compare(before, release([line("1", decision(votes=votes))], stages=[changed]))
    (reason,) = found["items"]["added"][0]["reasons"]
    assert (reason["code"], reason["settings"]) == ("settings", {"tie_rule": ["drop", "first"]})
    assert found["setup"]["stages"]["changed"]["choose"]["settings"]["state"] == ["open", "closed"]


def test_new_instructions_stand_beside_the_judgments_that_changed(release):
    newer = CHOOSE | {"instructions": [*CHOOSE["instructions"], {"version": 2, "text": "Pick the best."}]}
    after = release([line("1", decision(votes={"candidate-1": 3}))], stages=[newer])
    found = compare(release([], [gone("1")]), after)
    assert codes(found, "added") == {"1": ["judgments", "instructions"]}
    assert "Stage choose: the instructions changed (version 1 → 2)." in list(sentences(found))


def test_the_first_stage_that_differs_is_the_main_reason(release):
    fits = [decision("fits", question=name, outcome="positive-0") for name in ("one", "two")]
    before = release([], [gone("1", decision(state="dropped"))])
    found = compare(before, release([line("1", decision(by="adjudicator"), *fits)]))
    assert codes(found, "added") == {"1": ["adjudication", "stage"]}


def test_a_stage_whose_result_is_the_same_is_no_reason(release):
    fits = decision("fits", state="dropped", reason="ambiguous_both")
    before = release([line("1", decision(), decision("fits", votes={"positive-0": 1}))])
    found = compare(before, release([], [gone("1", decision(votes={"candidate-1": 2}), fits, stage="fits")]))
    assert codes(found, "dropped") == {"1": ["judgments"]}
    assert found["items"]["dropped"][0]["reasons"][0]["stage"] == "fits"


def test_imported_since_and_no_longer_imported(release):
    found = compare(release([line("1")]), release([line("2")]))
    assert codes(found, "added") == {"2": ["imported"]} and codes(found, "dropped") == {"1": ["imported"]}
    assert all(one["reasons"][0]["sure"] for group in found["items"].values() for one in group)
    unsure = compare(release([line("1")], imported=5), release([line("1"), line("2")]))
    assert unsure["items"]["added"][0]["reasons"] == [{"code": "imported", "came": True, "sure": False}]
    said = list(sentences(found))[-3:]
    assert "why: imported since." in said[0] and "why: no longer imported." in said[2]


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_what_a_stage_leaves_out_now(release, reason):
    before = release([line("1", decision(), decision("fits"))])
    found = compare(before, release([], [gone("1", decision(), reason=reason, stage="fits")]))
    assert codes(found, "dropped") == {"1": ["stage"]}
    assert found["items"]["dropped"][0]["reasons"][0]["left_out"] == reason
    assert (
        f"in the data → not asked about ({reason} in fits); why: fits leaves it out: it " in list(sentences(found))[-1]
    )
    assert found["moves"] == [{"from": "kept", "to": "not_asked", "items": 1}]


def test_a_stage_that_was_not_there(release):
    fits = decision("fits", state="dropped", reason="ambiguous_both")
    stages = [CHOOSE, CHOOSE | {"name": "fits", "position": 2}]
    found = compare(release([line("1")]), release([], [gone("1", decision(), fits, stage="fits")], stages=stages))
    assert codes(found, "dropped") == {"1": ["stage"]}
    assert "why: entered fits (dropped)." in list(sentences(found))[-1]
    back = compare(release([], [gone("1", decision(), fits)], stages=stages), release([line("1")]))
    assert codes(back, "added") == {"1": ["stage"]}
    assert "why: is no longer asked about in fits." in list(sentences(back))[-1]


def test_what_came_into_a_stage_by_itself(release):
    found = compare(release([line("1")], [], [task("2", live=False)]), release([line("1"), line("2")]))
    assert codes(found, "added") == {"2": ["stage"]}


def test_what_is_dropped_for_another_reason_is_outside(release):
    before = release([], [gone("1"), gone("2")])
    after = release(
        [], [gone("1", decision(state="dropped", reason="tie_unresolved"), reason="tie_unresolved"), gone("2")]
    )
    found = compare(before, after)
    (one,) = found["items"]["outside"]
    assert (one["from"]["reason"], one["to"]["reason"]) == ("no_image_fits", "tie_unresolved")


# What changed in the data of both


def changed(release, before: dict, after: dict, **manifest) -> dict:
    found = compare(release([before]), release([after], **manifest))
    (one,) = found["items"]["changed"]
    return one


def test_a_changed_caption_has_both_texts_and_the_stage_that_wrote_it(release):
    before, after = line("1"), line("1", decision(content={"texts": {"positive": "Two cats."}}))
    after["captions"][0] |= {"text": "Two cats.", "imported": "A cat 1.", "changed_by": "choose"}
    one = changed(release, before, after)
    assert one["changes"] == {"captions": {"positive": ["A cat 1.", "Two cats."]}}
    assert [reason["code"] for reason in one["reasons"]] == ["unknown"]  # the votes are the same
    after["decisions"][0]["decided_by"] = "adjudicator"
    assert changed(release, before, after)["reasons"][0]["code"] == "adjudication"


def test_another_negative_image(release):
    after = line("1", decision(outcome="candidate-2", votes={"candidate-2": 2}), negative_image="candidate-2")
    one = changed(release, line("1"), after)
    assert one["changes"] == {"negative_image": ["candidate-1", "candidate-2"]}
    assert [reason["code"] for reason in one["reasons"]] == ["judgments"]


def test_material_that_was_imported_again(release):
    for part in ({"type": "swap"}, {"meta": {"source": "b"}}, {"captions": [{"role": "positive", "text": "A hat."}]}):
        one = changed(release, line("1"), line("1", **part))
        assert [reason["code"] for reason in one["reasons"]] == ["imported_again"] and set(one["changes"]) == set(part)


def test_other_attributes(release):
    before, after = line("1"), line("1")
    after["captions"][1] |= {"attributes": {"source": "b"}}
    after["images"][0] = before["images"][0] | {"attributes": {"model": "m"}}
    one = changed(release, before, after)
    assert one["changes"] == {
        "attributes": {"negative": [None, {"source": "b"}]},
        "images": {"candidate-1": {"attributes": [None, {"model": "m"}]}},
    }
    assert one["reasons"] == [{"code": "imported_again"}]


def test_other_images(release):
    before, after, newer = line("1"), line("1"), line("1")
    after["images"][0] = before["images"][0] | {"sha256": "22"}
    one = changed(release, before, after)
    assert one["changes"] == {"images": {"candidate-1": {"sha256": ["11", "22"]}}}
    assert one["reasons"] == [{"code": "imported_again"}]
    newer["images"] = [*before["images"], before["images"][0] | {"key": "candidate-2", "round": 2, "chosen": False}]
    assert changed(release, before, newer)["reasons"] == [{"code": "imported_again", "round": 2}]


def test_another_split_and_why(release):
    before, after = line("1"), line("1", split="train")
    cut = {"splits": {"train": 80, "test": 20}}
    assert changed(release, before, after, plan=cut)["reasons"][0]["code"] == "settings"
    assert changed(release, before, after, moved={"1": "test"})["reasons"] == [{"code": "split", "shared": True}]
    assert changed(release, before, after)["reasons"] == [{"code": "unknown"}]
    found = compare(release([before]), release([after, line("2")]))
    assert codes(found, "changed") == {"1": ["split"]}


def test_other_votes_with_the_same_content_are_no_change(release):
    found = compare(release([line("1")]), release([line("1", decision(votes={"candidate-1": 2}))]))
    assert found["totals"] | {"judged_again": 1, "changed": 0} == found["totals"] and not found["same"]


# The set-up, the words, the size


def test_the_set_up(release):
    plan = {"version": "1.1", "public": ["times"], "forms": ["csv"]}
    after = release([line("1")], plan=plan, version="0.7.0", content="bb", files={"a.csv": {"sha256": "1"}},
                    splits={"test": {"items": 1}})  # fmt: skip
    setup = compare(release([line("1")], splits={"test": {"items": 2}}), after)["setup"]
    assert setup["splits"] == {"test": [2, 1]}
    assert setup["release"] == {
        "version": ["1.0", "1.1"],
        "public": [[], ["times"]],
        "forms": [["csv", "jsonl", "source"], ["csv"]],
    }
    assert setup["made"] == {"version": ["0.6.0", "0.7.0"]} and setup["files"] == {"added": ["a.csv"]}


def test_another_target_order_and_interval_of_an_audit(release):
    def audited(half_width, sha256, low, *kept):
        audit = {"target_half_width": half_width, "target_bound": None, "any_look": False, "wrong_reasons": []}
        made = release(kept, stages=[{**CHOOSE, "strategy": "audit", "audit": audit}])
        result = {"order_sha256": sha256, "items": 9, "low": low, "high": 0.5}
        figures = {"stages": [{"study": {"stage_name": "choose"}, "audit": result}]}
        (made.place / "figures.json").write_text(json.dumps(figures))
        return ReleaseFiles(made.place)

    found = compare(audited(0.05, "ab", 0.1, line("1")), audited(0.03, "cd", 0.2, line("1"), line("2")))
    assert found["setup"]["stages"]["changed"]["choose"]["settings"] == {"audit target_half_width": [0.05, 0.03]}
    assert found["setup"]["audits"] == {"choose": {"order_sha256": ["ab", "cd"], "low": [0.1, 0.2]}}
    assert not found["same"]
    told = list(sentences(found))
    assert "Stage choose: audit target_half_width 0.05 → 0.03." in told
    assert "The audit in stage choose: low 0.1 → 0.2, order_sha256 ab → cd." in told


def test_another_version_of_the_same_says_so(release):
    card = [{"README.md": {"sha256": text}} for text in "ab"]
    after = release([line("1")], plan={"version": "1.1"}, content="bb", files=card[1])
    said = list(sentences(compare(release([line("1")], files=card[0]), after)))
    assert said[1] == "Identical except for name and version and the files that contain them: README.md."


def test_another_reason_of_an_exclusion_and_a_warning_are_told(release):
    before, after = ([{"annotator": "A-01", "reason": reason}] for reason in ("Clicked at random", "Too fast"))
    found = compare(
        release([line("1")], exclusions=before), release([line("1")], exclusions=after, warnings=["Beware."])
    )
    said = list(sentences(found))
    assert not found["same"] and found["totals"]["unchanged"] == 1
    assert "Annotator A-01 is excluded for a different reason: Clicked at random → Too fast." in said
    assert "Made by: warnings none → ['Beware.']." in said


def test_it_is_told_in_sentences(release):
    excluded = [{"annotator": "A-01", "reason": "Clicked at random"}]
    before = release([line("1"), line("4")], [gone("2")], [task("3")], [judgment("1", "A-01")])
    dropped = [gone("1", decision(state="dropped", votes={}))]
    after = release(
        [line("2", decision(by="adjudicator")), line("3"), line("4", type="swap")], dropped, exclusions=excluded
    )
    said = list(sentences(compare(before, after)))
    assert said[1] == "Items in the data: 2 → 3; 2 added, 1 dropped, 1 changed, 0 unchanged."
    why = "adjudicated since in choose (kept, adjudicator)"
    assert f"+ 2 (replace, obj): dropped (no_image_fits in choose) → in the data; why: {why}." in said
    assert "~ 4 (swap, obj): type replace → swap; why: the material was imported again." in said
    assert said[said.index("Dropped from the data:") + 1].startswith("- 1 (replace, obj): in the data → dropped (")
    short = list(sentences(compare(before, after), 1))
    assert "  … and 1 more" in short


def test_every_setting_that_decides_is_one_of_a_stages():
    beside = {
        "source",
        "after",
        "fixed_answers",
        "drops",
        "confirms",
        "confirm_cap",
        "alike",
        "protocol_file",
        "certainty",
    }
    if_used = ("scores_of", "stops_if_futile", "changes")
    assert {*OF_STAGE, *beside, *(f"audit {name}" for name in (*audits.SETTINGS, *if_used))} >= DECIDING


@pytest.mark.parametrize(("kept", "undecided"), [(200, 50), pytest.param(6000, 1512, marks=pytest.mark.nightly)])
def test_a_whole_benchmark_is_compared_in_seconds(release, kept, undecided):
    keys = [str(number) for number in range(kept + undecided)]
    before = release([line(key) for key in keys[:kept]], [], [task(key) for key in keys[kept:]])
    excluded = [{"annotator": "A-01", "reason": "Clicked"}]
    after = release([], [gone(key, decision(state="dropped", votes={})) for key in keys], exclusions=excluded)
    began = time.perf_counter()
    found = compare(before, after)
    assert time.perf_counter() - began < 30
    assert (found["totals"]["dropped"], found["totals"]["outside"]) == (kept, undecided)


def test_folders_and_zips_are_compared_alike_by_the_command(release, tmp_path, capsys):
    before, after = release([line("1")]), release([line("2")])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in before.names():
            archive.writestr(f"cats-1.0/{name}", before.read(name))
    call_command("diff_release", str(tmp_path / "a.zip"), str(after.place), "--json")
    assert json.loads(capsys.readouterr().out) == compare(before, after)
    call_command("diff_release", str(before.place), str(after.place), "--items", "0")
    assert "1 added, 1 dropped" in capsys.readouterr().out


def test_what_is_no_release_is_told_by_its_name(release, tmp_path):
    for place, problem in ((tmp_path / "none", "does not exist"), (tmp_path, "manifest.json is not in the release")):
        with pytest.raises(CommandError, match=problem):
            call_command("diff_release", str(release().place), str(place))
