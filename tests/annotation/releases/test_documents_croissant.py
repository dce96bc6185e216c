"""croissant.json: the reference reader finds nothing wrong with it and gives every row of every table, offline."""

import logging

import pytest

from annotation.exports.files import files_below
from annotation.releases.build import build
from annotation.releases.plan import FORMS, Plan
from annotation.releases.plan import WORDS as PLAN_WORDS
from tests.builders.documented_release import release
from tests.lazy import LazyModule

mlcroissant = LazyModule("mlcroissant")

WORDS = {"summary": 'Cats; "é" 🐈 <b>.', "licence": "MIT", "authors": "A; B", "biases": "Only cats.", "language": "en"}
MORE = {
    "timeframe": "From 2026-01-31 to 2026-03-15, not 2026-02-30.",
    "preprocessing": "Cropped.",
    "social_impact": "Little.",
    "maintenance": "Mail us.",
}
NOT_STATED = "is recommended, but does not exist"


def read(folder, caplog):
    """The metadata, and record set → its records; nothing is complained of but what the producer left empty."""
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
        found = {one.uuid: list(dataset.records(one.uuid)) for one in dataset.metadata.record_sets}
    said = [record.getMessage() for record in caplog.records]
    assert dataset.metadata.ctx.issues.errors == set() and not [one for one in said if NOT_STATED not in one]
    return dataset.metadata, found


def test_the_reference_reader_finds_every_record_and_what_was_stated(tmp_path, caplog):
    made = release(tmp_path / "a", WORDS | MORE)
    metadata, found = read(made.written(), caplog)
    every_record_comes_with_its_split_and_image(found)
    lists_of_objects_are_read_and_free_objects_named(made, found["items"][0])
    what_was_stated_of_time_use_and_maintenance_is_there(made, metadata)


def every_record_comes_with_its_split_and_image(found):
    assert [row["splits/name"] for row in found["splits"]] == ["train", "test"]
    assert [row["data/split"] for row in found["data"]] == [b"test", b"train", b"train"]
    assert {row["data/image"].size for row in found["data"]} == {(200, 190)}
    assert [len(found[name]) for name in ("items", "judgments", "annotators", "images", "texts")] == [3, 1, 2, 4, 0]


def lists_of_objects_are_read_and_free_objects_named(made, item):
    assert [one["items/captions/text"] for one in item["items/captions"]] == [b"A dog sits there.", b"A cat sits."]
    images = [(one["items/images/chosen"], one["items/images/crop"]) for one in item["items/images"]]
    assert images == [(True, None), (False, None), (False, [0, 0, 4, 4])]
    described = {one["@id"]: one for one in made.json("croissant.json")["recordSet"]}
    lists = {field["name"] for field in described["judgments"]["field"] if field.get("repeated")}
    assert lists == {"shown", "flags"}
    assert described["items"]["description"].endswith(
        ": decisions.votes, decisions.content, captions.attributes, images.attributes, meta."
    )


def what_was_stated_of_time_use_and_maintenance_is_there(made, metadata):
    found = made.json("croissant.json")
    assert found["rai:dataCollectionTimeframe"] == found["rai:dataCollectionTimeFrame"] == ["2026-01-31", "2026-03-15"]
    values = [getattr(metadata, name) for name in RAI.values()]
    assert [[day.date().isoformat() for day in values[0]], *values[1:]] == [
        ["2026-01-31", "2026-03-15"], ["Cropped."], "Little.", "Mail us.",
    ]  # fmt: skip
    for name in ("README.md", "data_statement.md"):
        assert all(word.replace("-", "\\-") in made.text(name) or word in made.text(name) for word in MORE.values())


def test_every_file_stands_with_its_hash(tmp_path):
    made = release(tmp_path / "a", WORDS)
    made.written()
    listed = {one["contentUrl"]: one for one in made.json("croissant.json")["distribution"] if "sha256" in one}
    assert set(listed) == set(files_below(made.folder)) - {"croissant.json"}
    path = made.folder / "README.md"
    assert listed["README.md"]["contentSize"] == f"{path.stat().st_size} B"


def test_what_was_stated_and_nothing_else(tmp_path):
    made = release(tmp_path / "a", WORDS)
    made.written()
    found = made.json("croissant.json")
    assert (found["version"], found["datePublished"]) == ("1.2.0", "2026-03-02")
    assert found["license"] == "https://spdx.org/licenses/MIT.html"
    assert [one["name"] for one in found["creator"]] == ["A", "B"]
    assert found["rai:dataBiases"] == ["Only cats."]
    assert "Krippendorff’s α, nominal 0.50, 95 % interval 0.25 to 0.75" in found["rai:dataAnnotationAnalysis"][0]
    unstated = {"dataCollection", "dataUseCases", "personalSensitiveInformation", *RAI}
    assert not {"citeAs", *(f"rai:{name}" for name in unstated)} & set(found)


@pytest.mark.parametrize("simulated", [False, True])
def test_all_twenty_fields_of_rai_are_there_if_their_words_were_stated(tmp_path, simulated):
    made = release(tmp_path / "a", {word.name: "2026-01-31" for word in PLAN_WORDS})
    path = made.folder / "annotators.jsonl"
    path.write_text(path.read_text().replace('"simulated": false', f'"simulated": {str(simulated).lower()}', 1))
    made.written()
    found = made.json("croissant.json")
    assert {name.removeprefix("rai:") for name in found if name.startswith("rai:")} - SPELT_BY_THE_READER == (
        TWENTY if simulated else TWENTY - {"machineAnnotationTools"}
    )
    metadata = mlcroissant.Dataset(jsonld=str(made.folder / "croissant.json")).metadata
    assert metadata.data_manipulation_protocol.startswith("Captions of kept items that annotators changed: 0 ")
    assert metadata.data_collection_raw_data.startswith("1 rows of judgments.parquet")
    assert metadata.data_imputation_protocol.startswith("Nothing was filled in")


SPELT_BY_THE_READER = {"dataCollectionTimeFrame", "dataDataManipulationProtocol"}
TWENTY = {  # of the specification, 1.0
    "annotationsPerItem", "annotatorDemographics", "dataAnnotationAnalysis", "dataAnnotationPlatform",
    "dataAnnotationProtocol", "dataBiases", "dataCollection", "dataCollectionMissingData", "dataCollectionRawData",
    "dataCollectionTimeframe", "dataCollectionType", "dataImputationProtocol", "dataLimitations",
    "dataManipulationProtocol", "dataPreprocessingProtocol", "dataReleaseMaintenancePlan", "dataSocialImpact",
    "dataUseCases", "machineAnnotationTools", "personalSensitiveInformation",
}  # fmt: skip
RAI = {  # what the reference reader calls each
    "dataCollectionTimeFrame": "data_collection_timeframe",
    "dataPreprocessingProtocol": "data_preprocessing_protocol",
    "dataSocialImpact": "data_social_impact",
    "dataReleaseMaintenancePlan": "data_release_maintenance_plan",
}


@pytest.mark.django_db(transaction=True)
def test_a_release_of_a_study_can_be_read_whole(exports, tmp_path, caplog):
    plan = Plan("a.b_c", "1.0", forms=FORMS, words=WORDS)
    (tmp_path / "out").mkdir()
    files = build(exports("stages"), plan, tmp_path / "out")["files"]
    _, found = read(tmp_path / "out", caplog)
    for table in ("items", "dropped", "tasks", "texts", "adjudications", "annotators", "flags", "images"):
        assert len(found[table]) == files[f"{table}.jsonl"]["rows"]
    assert len(found["judgments"]) == files["judgments.parquet"]["rows"] > len(found["data"]) > 0
