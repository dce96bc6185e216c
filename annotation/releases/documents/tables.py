"""The tables of a release: what a row is, which columns it has and what stands in them. Pure.

Which of the columns a release has depends on what of it is public, so they are looked up in its files.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from annotation.releases.archive_reader import Files
from benchmarks.records import ROLES, is_own


@dataclass(frozen=True, slots=True)
class Column:
    """`kind`: text, integer, number, boolean or time; texts, integers or objects, which are lists (`of` has the
    columns of objects); or object, whose names differ from row to row."""

    name: str
    kind: str
    says: str
    of: tuple["Column", ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    file: str
    says: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()  # columns that tell rows apart


def columns(block: str, **of: tuple[Column, ...]) -> tuple[Column, ...]:
    """A line each: name, kind, what stands in it. `of` has the columns of objects by their name."""
    rows = (line.split(maxsplit=2) for line in block.splitlines() if line.strip())
    return tuple(Column(name, kind, says, of.get(name, ())) for name, kind, says in rows)


DECISIONS = columns("""
    stage           text     Name of the stage.
    stage_position  integer  Its place, from 1.
    question        text     Which of its questions; empty if it has only one.
    round           integer  1, or higher if the item was asked again with other material.
    state           text     kept, dropped or open.
    outcome         text     What was decided, by identity.
    reason          text     Why it was dropped.
    decided_by      text     How the outcome was decided: from judgments, or by an adjudicator.
    votes           object   Counted judgments by answer.
    content         object   Texts and ratings that were decided.
    posterior       number   Probability of the outcome, if it was estimated.
""")
CAPTIONS = columns("""
    role        text  positive, negative, second_positive or candidate.
    text        text  The final text.
    imported    text  The text before a stage changed it.
    changed_by  text  The stage that changed it.
    made_of     text  The text that was edited, by identity.
""")
IMAGES = columns("""
    key          text     Its identity in the item.
    chosen       boolean  It is the item's negative image.
    round        integer  Its round of candidates, from 1.
    sha256       text     SHA-256 of its bytes.
    format       text     JPEG, PNG, WEBP or GIF.
    width        integer  In pixels.
    height       integer  In pixels.
    source_name  text     The name of its file in the import.
    licence      text     As imported.
    attribution  text     As imported.
    crop         integers  Which part of the source file it is: left, top, width, height.
""")
ITEM = """
    id              text     The item's name in the benchmark.
    position        integer  Its place in the benchmark, from 0.
    type            text     How the negative differs.
    subtype         text     What differs.
    stage           text     The stage that decided the item.
"""
KEPT = """
    split           text  The item's split.
    negative_image  text  Identity of the negative image.
"""
DROPPED = """
    reason  text  Why it was dropped.
"""
MATERIAL = """
    decisions       objects  Each stage's outcome for the item.
    captions        objects  Its captions.
    texts           object   What annotators wrote about it that is not among its captions, by role.
    images          objects  All of its images, including those that were not chosen.
    meta            object   Other fields of the import.
"""
ASKED = """
    stage     text     Name of the stage.
    item      text     The item's id.
    question  text     Which of the stage's questions about the item; empty if it has only one.
    round     integer  1, or higher if the item was asked again with other material.
"""
TASK = f"""{ASKED}
    position  integer  The item's place in the benchmark, from 0.
    kind      text     judge, or check if the answer was known.
    live      boolean  The item is still in the stage.
"""
CAME = """
    state    text    kept, dropped or open.
    outcome  text    What was decided, by identity.
    content  object  Texts and ratings that were decided.
    reason   text    Why the item was dropped.
"""
BY = """
    decided_by  text    How the outcome was decided: from judgments, or by an adjudicator.
    posterior   number  Probability of the outcome, if it was estimated.
"""
NOTE = """
    note  text  What the adjudicator wrote.
    by    text  adjudicator.
"""
JUDGMENTS = """
    type                  text     Of the item.
    subtype               text     Of the item.
    annotator             text     A pseudonym.
    excluded              boolean  The annotator was excluded.
    slot                  integer  Which of the task's places it fills.
    screen                integer  Which of the annotator's screens of this task.
    revision              integer  From 1, one more for each change.
    answer                text     By identity; empty if it was withdrawn.
    answers               text     By name, in the words of the protocol file, as JSON.
    content               text     The rest of the answer, as JSON.
    place                 integer  The answer's place on the screen, from 1.
    shown                 texts    The options in their order on the screen.
    created_at            time     When it was given, in UTC.
    given                 integer  Its position among the judgments of its task, by time, from 1.
    active_ms             integer  Milliseconds with the page in view.
    elapsed_ms            integer  Milliseconds from showing to answering.
    counted               boolean  It counts.
    withdrawn             boolean  It withdraws the answer.
    surplus               boolean  It came after its place was filled.
    instructions_version  integer  The version of the instructions that were read.
    language              text     The language of the page.
    reason                text     What the annotator wrote with it.
    flags                 texts    What the annotator flagged on the screen.
"""
RULES = columns("""
    answer   text  The answer that the rule is about.
    rule     text  Its name in the protocol file.
    state    text  kept, dropped or open.
    outcome  text  What it decides, in the words of the protocol file.
    reason   text  Why it drops the item.
""")
TASKS = """
    type       text     Of the item.
    subtype    text     Of the item.
    overlap    integer  Judgments required.
    shared     boolean  It is in the agreement sample.
    batch      integer  Number of the batch.
    shows      texts    What was shown, by identity.
    options    texts    What could be picked, by identity.
    names      object   What the protocol file calls each identity.
    rules      objects  What each rule of the protocol file decides.
    proposals  texts    Edits offered as options.
    texts      object   The text of each identity.
    carried    object   What earlier stages chose or wrote for the item.
    gold       texts    The right answers of a check.
    own        boolean  The item is from the benchmark; otherwise it was added for practice.
"""
TEXTS = """
    annotator   text     A pseudonym; empty for adjudicators.
    screen      integer  Which of the annotator's screens of this task.
    revision    integer  From 1, one more for each change.
    counted     boolean  It counts.
    withdrawn   boolean  It was withdrawn.
    created_at  time     When it was given, in UTC.
    edit        text     Name of the edit.
    by          text     annotator or adjudicator.
    role        text     Of the caption.
    made_of     text     The text that it was made from, by identity.
    before      text     That text itself.
    text        text     The resulting text.
"""
STAGES = columns("""
    stage         text     Name of the stage.
    batch         integer  The number of their batch.
    place         integer  Their place in the batch.
    screened_out  boolean  They did not pass its qualification.
    skipped       integer  Screens that they skipped.
    passed        object   Whether they passed the comprehension questions and the practice.
""")
ANNOTATORS = """
    annotator         text     A pseudonym.
    simulated         boolean  A program, not a person.
    excluded          boolean  None of their judgments count.
    exclusion_reason  text     Why.
    left              boolean  They left before the end.
    stages            objects  The stages that they were in.
"""
FLAGS = """
    annotator  text     A pseudonym.
    reason     text     What they wrote.
    settled    boolean  A manager has reviewed it.
"""
SHOWN = """
    sha256       text     SHA-256 of its bytes.
    file_names   texts    Its names in the files of the release.
    format       text     JPEG, PNG, WEBP or GIF.
    width        integer  In pixels.
    height       integer  In pixels.
    source_name  text     The name of its file in the import.
    licence      text     As imported.
    attribution  text     As imported.
"""
ATTRIBUTES = Column("attributes", "object", "What its source says of it, by name.")
OF_ITEM = {"decisions": DECISIONS, "captions": CAPTIONS, "images": IMAGES}
ITEMS, GONE = (columns(block, **OF_ITEM) for block in (ITEM + KEPT + MATERIAL, ITEM + DROPPED + MATERIAL))
MAY_BE_OWN = re.compile(rf'"attributes": |"(?:role|key)": "(?!(?:{"|".join(ROLES)})["-])'.encode())  # in a line
OF_ITEMS = ("items", "dropped")  # tables whose captions and images may have roles of the user's own, and attributes
ROLE = replace(CAPTIONS[0], says="positive, negative, second_positive, candidate, or a role of the producers' own.")
OWN = {"captions": (ROLE, *CAPTIONS[1:], ATTRIBUTES), "images": (*IMAGES, ATTRIBUTES)}
OF_TASK = ("stage", "item", "question", "round", "kind")


def _table(name: str, says: str, found: tuple[Column, ...], *key: str, ending: str = "jsonl") -> Table:
    return Table(name, f"{name}.{ending}", says, found, key)


LISTED = (
    _table(
        "judgments",
        "Every judgment and each revision of it, including those that do not count.",
        columns(TASK + JUDGMENTS),
        *(*OF_TASK, "annotator", "slot", "screen", "revision"),
        ending="parquet",
    ),
    _table("items", "The kept items, with each stage's outcome and votes, every caption and image.", ITEMS, "id"),
    _table("dropped", "The dropped items, each with the stage and the reason.", GONE, "id"),
    _table("tasks", "Every task, with its outcome.", columns(TASK + TASKS + CAME + BY, rules=RULES), *OF_TASK),
    _table(
        "texts",
        "Every text that people wrote or accepted, and the text it was made from.",
        columns(TASK + TEXTS),
        *(*OF_TASK, "annotator", "screen", "revision", "role"),
    ),
    _table("adjudications", "What adjudicators decided.", columns(ASKED + CAME + NOTE), *OF_TASK[:-1]),
    _table("annotators", "The annotators, by pseudonym.", columns(ANNOTATORS, stages=STAGES), "annotator"),
    _table("flags", "What annotators flagged.", columns(ASKED + FLAGS)),
    _table("images", "Each image of the data once, with its licence and attribution.", columns(SHOWN), "sha256"),
)
TABLES: Mapping[str, Table] = {table.name: table for table in LISTED}


def there(release: Files, table: Table) -> list[Column]:
    """Those of its columns that its file has, in the table's order: all of a file without rows, none without a file.

    A column that the table does not know is left out. Captions and images have attributes only where some are there.
    """
    if table.file not in release.names():
        return []
    if table.file.endswith(".parquet"):
        names, own = set(release.schema(table.file).names), False
    else:
        names, own = set(), False
        missing = {column.name: f'"{column.name}": '.encode() for column in table.columns}
        for raw in release.raw_lines(table.file):
            may_be_own = not own and table.name in OF_ITEMS and MAY_BE_OWN.search(raw)
            if may_be_own or any(key in raw for key in missing.values()):
                line = json.loads(raw)
                names.update(line)
                missing = {name: key for name, key in missing.items() if name not in names}
                own = own or (table.name in OF_ITEMS and _has_own(line))
    found = (replace(column, of=OWN[column.name]) if own and column.name in OWN else column for column in table.columns)
    return [one for one in found if one.name in names or not names]


def _has_own(line: Mapping) -> bool:
    """Whether an item has a role of the user's own, or an attribute."""
    roles = [caption["role"] for caption in line["captions"]]
    roles += [image["key"].rpartition("-")[0] for image in line["images"]]
    return any(map(is_own, roles)) or any("attributes" in part for part in (*line["captions"], *line["images"]))
