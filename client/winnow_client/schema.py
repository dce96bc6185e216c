"""Rows, settings and filters of the API (docs/reference/api.md). Made by client/generate.py: change that, not this."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, TypedDict


class BenchmarkData(TypedDict):
    id: int
    name: str
    source: str
    created_at: datetime
    item_count: int


class StageData(TypedDict):
    position: int
    name: str
    protocol: str
    state: str
    overlap: int
    tasks: int | None
    settled: int | None
    kept: int | None
    judgments_wanted: int | None
    judgments_counted: int | None


class StudyData(TypedDict):
    id: int
    name: str
    benchmark: str
    state: str
    role: str
    stages: list[StageData]
    judgments_wanted: int | None
    judgments_counted: int | None
    annotators: int
    pay_per_hour: str
    currency: str
    created_at: datetime


class CaptionData(TypedDict):
    role: str
    position: int
    text: str
    attributes: dict[str, object]


class ImageData(TypedDict):
    identity: str
    role: str
    position: int
    round: int
    source_name: str
    sha256: str
    url: str
    width: int
    height: int
    licence: str
    attributes: dict[str, object]


class ItemData(TypedDict):
    id: int
    key: str
    position: int
    type: str
    subtype: str
    captions: list[CaptionData]
    images: list[ImageData]
    meta: dict[str, object]


class JudgmentData(TypedDict):
    stage: str
    item: str
    question: str
    round: int
    position: int
    kind: str
    live: bool
    type: str
    subtype: str
    annotator: str
    excluded: bool
    slot: int
    screen: int
    revision: int
    answer: str | None
    answers: object | None
    content: object | None
    place: int | None
    shown: list[str]
    created_at: datetime
    active_ms: int
    elapsed_ms: int
    counted: bool
    withdrawn: bool
    surplus: bool
    corrected: bool
    instructions_version: int
    language: str
    imported: str | None
    imported_row: int | None
    reason: str
    flags: list[str]
    id: int


class TaskData(TypedDict):
    stage: str
    item: str
    question: str
    round: int
    position: int
    kind: str
    live: bool
    type: str
    subtype: str
    overlap: int
    shared: bool
    batch: int | None
    shows: list[str]
    options: list[str]
    names: dict[str, object] | None
    proposals: list[str]
    texts: dict[str, object]
    carried: dict[str, object]
    gold: list[str] | None
    own: bool
    state: str | None
    outcome: str | None
    content: dict[str, object] | None
    reason: str | None
    decided_by: str | None
    posterior: float | None
    corrected: int | None
    id: int


class SeatData(TypedDict):
    stage: str
    batch: int | None
    place: int | None
    screened_out: bool
    skipped: int


class AnnotatorData(TypedDict):
    annotator: str
    simulated: bool
    imported: bool
    excluded: bool
    exclusion_reason: str
    left: bool
    stages: list[SeatData]
    judgment_rows: int | None
    counted: int | None
    withdrawn: int | None
    surplus: int | None
    active_minutes: float | None


class FlagData(TypedDict):
    stage: str
    item: str
    question: str
    round: int
    annotator: str
    reason: str
    settled: bool
    id: int


class ImportOptions(TypedDict, total=False):
    format: Literal[
        "own",
        "bivlc-candidates",
        "sugarcrepe",
        "sugarcrepe-compare",
        "visla",
        "hard-positives",
        "aro",
        "jsonl",
        "bivlc-parquet",
        "sugarcrepe-parquet",
        "sugarcrepe-compare-parquet",
        "visla-parquet",
        "hard-positives-parquet",
        "aro-parquet",
        "release",
    ]
    mapping: Mapping[str, object]
    first_origin: str
    second_origin: str
    format_captions: bool
    text_only: bool
    skip_incomplete: bool
    skip_missing_images: bool
    skip_unreadable_images: bool
    new_candidates: bool
    split: str


class PredictionOptions(TypedDict, total=False):
    mapping: Mapping[str, object]
    kind: Literal["bivlc", "visla", "hard_positive", "sugarcrepe", "aro"]
    skip_incomplete: bool
    blind: bool
    asked_in_both_orders: bool


class StageOptions(TypedDict, total=False):
    overlap: int | None
    cap: int | None
    certainty: float | None
    rule: Literal["majority", "dawid-skene"]
    tie_rule: Literal["drop", "first", "none", "adjudicate"]
    strategy: Literal["pool", "batches", "named", "everyone", "audit"]
    batch_size: int | None
    agreement_items: int | None
    agreement_overlap: int | None
    quota: int | None
    sample: int | None
    stratify: bool
    sample_each: bool
    target_half_width: float | None
    target_bound: float | None
    any_look: bool
    wrong_reasons: list[str]
    scores_run: int | None
    promotion: Literal["settled", "closing"]
    apart_from: list[str]
    lease_seconds: int | None
    undo_seconds: int | None
    check_rate: float | None
    practice_pass: float | None
    practice_tries: int | None
    on_failure: Literal["flag", "screen_out"]
    auto_advance: bool
    instructions: str


class PartBody(TypedDict, total=False):
    types: list[str]
    roles: dict[str, str]
    attributes: dict[str, list[str]]
    keys: list[str]
    sample: int


class StudyOptions(TypedDict, total=False):
    preset: Literal[
        "bivlc",
        "bivlc-choose",
        "bivlc-disambiguate",
        "human-baseline",
        "human-baseline-apart",
        "visla-generic",
        "visla-spatial",
        "hard-positives",
        "sugarcrepe-eval",
        "verify",
    ]
    protocol: str
    protocols: list[str]
    roles: dict[str, str]
    template: str
    title: str
    pay_per_hour: float | str
    currency: str
    language: Literal["en", "es", "de", "zh-hans", "ar", "eu"]
    consent: str
    paused: bool
    part: PartBody
    stages: dict[str | int, StageOptions]


class SettingsOptions(TypedDict, total=False):
    name: str
    title: str
    consent: str
    pay_per_hour: float | str
    currency: str
    stages: dict[str, StageOptions]


class SplitsBody(TypedDict, total=False):
    train: int
    validation: int
    test: int


class WordsBody(TypedDict, total=False):
    summary: str
    authors: str
    contact: str
    licence: str
    citation: str
    language: str
    collection: str
    timeframe: str
    preprocessing: str
    platform: str
    demographics: str
    ethics: str
    biases: str
    sensitive: str
    use: str
    social_impact: str
    maintenance: str


class ReleaseOptions(TypedDict, total=False):
    splits: SplitsBody
    seed: int
    forms: list[Literal["imagefolder", "jsonl", "csv", "webdataset", "vlmevalkit", "source"]]
    shard_mb: int
    public: list[Literal["times", "annotators", "comments", "gold"]]
    stages: Sequence[int | str]
    words: WordsBody


class ItemFilters(TypedDict, total=False):
    key: str
    ordering: str
    subtype: str
    type: str


class JudgmentFilters(TypedDict, total=False):
    annotator: str
    counted: bool
    ordering: str
    since: datetime | str
    stage: int | str
    withdrawn: bool


class TaskFilters(TypedDict, total=False):
    item: str
    kind: str
    live: bool
    ordering: str
    stage: int | str
    state: str
    subtype: str
    type: str


class AnnotatorFilters(TypedDict, total=False):
    excluded: bool
    ordering: str


class FlagFilters(TypedDict, total=False):
    ordering: str
    settled: bool
    stage: int | str
