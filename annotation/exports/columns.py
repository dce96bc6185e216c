"""The columns of exports and releases: name, kind, when a value is null or missing, and what it contains. Pure.

Whatever names columns is made from here: the schemas of parquet files, what a release hides and what verification
expects, the README of an export, the card and Croissant description of a release, docs/reference/columns.md. A new
column is a line here, and its value where rows are written (`rows`, `texts`, `items`).
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Column:
    """`kind`: text, integer (32 bits), long, number, boolean, time; texts and integers, which are lists; object, whose
    keys differ from row to row; objects, a list of objects with the columns `of`. In JSON a time is a text.

    `part` is the part of releases.plan.PUBLIC without which a release has no value there.
    """

    name: str
    kind: str
    says: str = ""
    part: str = ""
    may_be_null: bool = False
    may_be_missing: bool = False  # a row has it only if it is not empty
    only_released: bool = False  # exports do not have it
    of: tuple["Column", ...] = ()


@dataclass(frozen=True)
class Table:
    name: str
    file: str
    says: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()  # columns that identify a row
    only_released: bool = False

    @cached_property
    def exported(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if not column.only_released)

    def hidden(self, public: Collection[str]) -> list[str]:
        """Return the columns that are null in a release in which only these parts are public."""
        return hidden(self.columns, public)


def hidden(found: Collection[Column], public: Collection[str]) -> list[str]:
    return [column.name for column in found if column.part and column.part not in public]


_KIND = re.compile(r"([a-z]+)([?*+]*)(?:/([a-z]+))?")


def column(name: str, kind: str, says: str = "", of: tuple[Column, ...] = ()) -> Column:
    """Parse a kind with its marks: `text?` may be null, `text*` may be missing, `text+` is in releases only,
    `text/times` is null unless the part `times` is public.
    """
    found = _KIND.fullmatch(kind)
    assert found, kind
    kind, marks, part = found[1], found[2], found[3] or ""
    return Column(name, kind, says, part, "?" in marks or bool(part), "*" in marks, "+" in marks, of)


def columns(block: str, **of: tuple[Column, ...]) -> tuple[Column, ...]:
    """Parse one column per line: name, kind with its marks, contents. `of` has the columns of objects by their name."""
    rows = (line.split(maxsplit=2) for line in block.splitlines() if line.strip())
    return tuple(column(name, kind, says, of.get(name, ())) for name, kind, says in rows)


DECISIONS = columns("""
    stage           text      Name of the stage.
    stage_position  integer   Its place, from 1.
    question        text      Which of its questions; empty if it has only one.
    round           integer   1, or higher if the item was asked again with other material.
    state           text      kept, dropped or open.
    outcome         text?     What was decided, by identity.
    reason          text?     Why it was dropped.
    decided_by      text?     How the outcome was decided: from judgments, or by an adjudicator.
    votes           object    Counted judgments by answer.
    content         object*   Texts and ratings that were decided.
    posterior       number*   Probability of the outcome, if it was estimated.
""")
CAPTIONS = columns("""
    role        text     positive, negative, second_positive, candidate, or a role of the producers' own.
    text        text     The final text.
    imported    text?*   The text before a stage changed it.
    changed_by  text*    The stage that changed it.
    made_of     text?*   The text that was edited, by identity.
    attributes  object*  What its source says of it, by name.
""")
IMAGES = columns("""
    key          text       Its identity in the item.
    chosen       boolean    It is the item's negative image.
    round        integer    Its round of candidates, from 1.
    sha256       text       SHA-256 of its bytes.
    format       text       JPEG, PNG, WEBP, AVIF or GIF; MP4 or WEBM of a video.
    width        integer    In pixels.
    height       integer    In pixels.
    source_name  text       The name of its file in the import.
    licence      text       As imported.
    attribution  text       As imported.
    crop         integers*  Which part of the source file it is: left, top, width, height.
    attributes   object*    What its source says of it, by name.
""")
RULES = columns("""
    answer   text   The answer that the rule is about.
    rule     text   Its name in the protocol file.
    state    text   kept, dropped or open.
    outcome  text?  What it decides, in the words of the protocol file.
    reason   text?  Why it drops the item.
""")
SEATS = columns("""
    stage         text                 Name of the stage.
    batch         integer?             The number of their batch.
    place         integer?             Their place in the batch.
    screened_out  boolean/annotators   They did not pass its qualification.
    skipped       integer/annotators   Screens that they skipped.
    passed        object+/annotators   Whether they passed the comprehension questions and the practice.
""")

_ITEM = """
    id        text     The item's name in the benchmark.
    position  integer  Its place in the benchmark, from 0.
    type      text     How the negative differs.
    subtype   text     What differs.
"""
_KEPT = """
    stage           text?  The stage that decided the item.
    split           text+  The item's split.
    negative_image  text?  Identity of the negative image.
"""
_DROPPED = """
    stage   text?  The stage that dropped the item; null if none selects and it was withdrawn.
    reason  text  Why it was dropped.
"""
_NOT_ASKED = """
    stage   text  The stage that did not ask about the item.
    reason  text  Why: not_sampled, check_item (its answer is known there) or not_suitable (it lacks what is shown).
"""
_MATERIAL = """
    decisions  objects  Each stage's outcome for the item.
    captions   objects  Its captions.
    texts      object*  What annotators wrote about it that is not among its captions, by role.
    images     objects  All of its images, including those that were not chosen.
    meta       object   Other fields of the import.
"""
_ASKED = """
    stage     text     Name of the stage.
    item      text     The item's id.
    question  text     Which of the stage's questions about the item; empty if it has only one.
    round     integer  1, or higher if the item was asked again with other material.
"""
_TASK = f"""{_ASKED}
    position  long     The item's place in the benchmark, from 0.
    kind      text     judge, or check if the answer was known.
    live      boolean  The item is still in the stage, and was not asked again.
"""
_JUDGMENTS = """
    type                  text          Of the item.
    subtype               text          Of the item.
    annotator             text          A pseudonym.
    excluded              boolean       The annotator was excluded; none of their judgments count.
    slot                  integer       Which of the task's places it fills.
    screen                integer       Which of the annotator's screens of this task.
    revision              integer       From 1, one more for each change.
    answer                text?         By identity; null if it was withdrawn.
    answers               text?         By name, in the words of the protocol file, as JSON; null without one.
    content               text?         The rest of the answer, as JSON: texts, guidelines …; null if there is none.
    place                 integer?      The answer's place on the screen, from 1; null for fixed answers.
    shown                 texts         The options in their order on the screen.
    created_at            time/times    When it was given, in UTC.
    given                 integer+      Its position among the judgments of its task, by time, from 1.
    active_ms             long/times    Milliseconds with the page in view; 0 if not measured.
    elapsed_ms            long/times    Milliseconds from showing to answering.
    counted               boolean       It counts.
    withdrawn             boolean       It withdraws the answer.
    surplus               boolean       It came after its place was filled.
    corrected             boolean       What it is about has been corrected since; it does not count.
    instructions_version  integer       The version of the instructions that were read.
    language              text          The language of the page.
    imported              text?         SHA-256 of the file it came from; null for those made in Winnow.
    imported_row          integer?      Its row in that file.
    reason                text/comments   What the annotator wrote with it.
    flags                 texts/comments  What the annotator flagged on the screen.
"""
_TASKS = """
    type       text        Of the item.
    subtype    text        Of the item.
    overlap    integer     Judgments required.
    shared     boolean     It is in the agreement sample.
    batch      integer?    Number of the batch.
    shows      texts       What was shown, by identity.
    options    texts       What could be picked, by identity.
    names      object?     What the protocol file calls each identity; null without one.
    rules      objects?    What each rule of the protocol file decides; null without one, and if the task is not live.
    proposals  texts       Edits offered as options.
    texts      object      The text of each identity.
    carried    object      What earlier stages chose or wrote for the item.
    gold       texts/gold  The right answers of a check.
    own        boolean     The item is from the benchmark; otherwise it was added for practice.
    state      text?       kept, dropped or open; null while nothing was decided.
    outcome    text?       What was decided, by identity.
    content    object?     Texts and ratings that were decided.
    reason     text?       Why the item was dropped.
    decided_by  text?      How the outcome was decided: from judgments, or by an adjudicator.
    posterior  number?     Probability of the outcome, if it was estimated.
    score      number*     The score by which an audit draws the item.
    corrected  long?       The number of the first correction since of what it shows; null if there is none.
    of_item    object*     Fields, captions and images of an item that is still open, if its protocol file needs them.
"""
_TEXTS = """
    annotator   text?       A pseudonym; null for adjudicators.
    screen      integer?    Which of the annotator's screens of this task.
    revision    integer?    From 1, one more for each change.
    counted     boolean     It counts.
    withdrawn   boolean     It was withdrawn.
    created_at  time/times  When it was given, in UTC.
    edit        text?       Name of the edit.
    by          text        annotator or adjudicator.
    role        text        Of the caption.
    made_of     text?       The text that it was made from, by identity.
    before      text?       That text itself.
    text        text        The resulting text.
"""
_ADJUDICATIONS = """
    state    text           kept, dropped or open.
    outcome  text?          What was decided, by identity.
    content  object?        Texts and ratings that were decided.
    reason   text?          Why the item was dropped.
    note     text/comments  What the adjudicator wrote.
    by       text           adjudicator.
"""
_ANNOTATORS = """
    annotator         text                A pseudonym.
    simulated         boolean             A program, not a person.
    imported          boolean             They judged elsewhere; their judgments came in a file.
    excluded          boolean             None of their judgments count.
    exclusion_reason  text                Why.
    left              boolean/annotators  They left before the end; their judgments still count.
    stages            objects             The stages that they were in.
"""
_CORRECTIONS = """
    number  long        In the order of the corrections.
    item    text        The item's id.
    action  text        caption, image, withdraw or restore.
    place   text        Identity of the caption or image; empty for the whole item.
    old     text?       The words before, or the image's file name; null of items that are withdrawn.
    new     text?       Likewise, after it.
    reason  text        Why, in the manager's words.
    at      time/times  When it was made, in UTC.
"""
_FLAGS = """
    annotator  text           A pseudonym.
    reason     text/comments  What they wrote.
    settled    boolean        A manager has reviewed it.
"""
_LISTED = """
    sha256       text     SHA-256 of its bytes.
    file_names   texts    Its names in the files of the release.
    format       text     JPEG, PNG, WEBP, AVIF or GIF; MP4 or WEBM of a video.
    width        integer  In pixels.
    height       integer  In pixels.
    source_name  text     The name of its file in the import.
    licence      text     As imported.
    attribution  text     As imported.
"""
_OF_ITEM = {"decisions": DECISIONS, "captions": CAPTIONS, "images": IMAGES}
TASK_KEY = ("stage", "item", "question", "round", "kind")


def _table(name: str, says: str, found: tuple[Column, ...], *key: str, ending: str = "jsonl") -> Table:
    return Table(name, f"{name}.{ending}", says, found, key, only_released=name == "images")


TABLES: Mapping[str, Table] = {table.name: table for table in (
    _table("judgments", "Every judgment and each revision of it, including those that do not count.",
           columns(_TASK + _JUDGMENTS), *TASK_KEY, "annotator", "slot", "screen", "revision", ending="parquet"),
    _table("items", "The kept items, with each stage's outcome and votes, every caption and image.",
           columns(_ITEM + _KEPT + _MATERIAL, **_OF_ITEM), "id"),
    _table("dropped", "The items that people dropped, each with the stage and the reason.",
           columns(_ITEM + _DROPPED + _MATERIAL, **_OF_ITEM), "id"),
    _table("not_asked", "The items that nobody was asked about, each with the stage and the reason.",
           columns(_ITEM + _NOT_ASKED + _MATERIAL, **_OF_ITEM), "id"),
    _table("tasks", "Every task of every kind, with its outcome.", columns(_TASK + _TASKS, rules=RULES), *TASK_KEY),
    _table("texts", "Every revision of every text that people wrote or accepted, and the text it was made from.",
           columns(_TASK + _TEXTS), *TASK_KEY, "annotator", "screen", "revision", "role"),
    _table("adjudications", "What adjudicators decided, and why.", columns(_ASKED + _ADJUDICATIONS), *TASK_KEY[:-1]),
    _table("annotators", "The annotators, by pseudonym.", columns(_ANNOTATORS, stages=SEATS), "annotator"),
    _table("corrections", "Corrections of items after their import, and items withdrawn, with the reasons.",
           columns(_CORRECTIONS), "number"),
    _table("flags", "What annotators flagged.", columns(_ASKED + _FLAGS)),
    _table("images", "Each image of the data once, with its licence and attribution.", columns(_LISTED), "sha256"),
)}  # fmt: skip

# Files of items that are not open, by state (measures.funnel.STATES).
FILES_OF_ITEMS = {"kept": "items.jsonl", "dropped": "dropped.jsonl", "not_asked": "not_asked.jsonl"}
