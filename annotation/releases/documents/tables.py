"""The tables of a release: what a row is, which columns it has and what stands in them. Pure.

Which of the columns a release has depends on what of it is public, so they are looked up in its files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from annotation.releases.archive_reader import Files


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
    question        text     Which of its questions; empty where there is one.
    round           integer  1, or higher where the item was asked anew with other material.
    state           text     kept, dropped or open.
    outcome         text     What was decided, by identity.
    reason          text     Why it was dropped.
    decided_by      text     How judgments came to the outcome, or adjudicator.
    votes           object   Counted judgments by answer.
    content         object   Texts and ratings that were decided.
    posterior       number   Probability of the outcome, where it was estimated.
""")
CAPTIONS = columns("""
    role        text  positive, negative, second_positive or candidate.
    text        text  The words as they stand in the end.
    imported    text  The words before a stage changed them.
    changed_by  text  The stage that changed them.
    made_of     text  The text that was edited, by identity.
""")
IMAGES = columns("""
    key          text     Its identity in the item.
    chosen       boolean  It is the item's negative image.
    round        integer  Of asking.
    sha256       text     SHA-256 of its bytes.
    format       text     JPEG, PNG, WEBP or GIF.
    width        integer  In pixels.
    height       integer  In pixels.
    source_name  text     Its file's name in the import.
    licence      text     As imported.
    attribution  text     As imported.
    crop         integers  The part of the source's file that it is: left, top, width, height.
""")
ITEM = """
    id              text     The item's name in the benchmark.
    position        integer  Its place in the benchmark, from 0.
    type            text     How the negative differs.
    subtype         text     In what it differs.
    stage           text     The stage that had the last word.
"""
KEPT = """
    split           text  The split that it is in.
    negative_image  text  Identity of the negative image.
"""
DROPPED = """
    reason  text  Why it was dropped.
"""
MATERIAL = """
    decisions       objects  What each stage made of the item.
    captions        objects  Its captions.
    images          objects  Every image of it, also those that were not chosen.
    meta            object   What else the import said of it.
"""
ASKED = """
    stage     text     Name of the stage.
    item      text     The item's id.
    question  text     Which of the stage's questions about the item; empty where there is one.
    round     integer  1, or higher where the item was asked anew with other material.
"""
TASK = f"""{ASKED}
    position  integer  The item's place in the benchmark, from 0.
    kind      text     judge; check where the answer was known.
    live      boolean  The item is still in the stage.
"""
CAME = """
    state    text    kept, dropped or open.
    outcome  text    What was decided, by identity.
    content  object  Texts and ratings that were decided.
    reason   text    Why the item was dropped.
"""
BY = """
    decided_by  text    How judgments came to the outcome, or adjudicator.
    posterior   number  Probability of the outcome, where it was estimated.
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
    slot                  integer  Which of the task's places it was given for.
    screen                integer  Which screen of the annotator for this task.
    revision              integer  1, and one more for each change.
    answer                text     By identity; empty where it was taken back.
    content               text     What else was answered, as JSON.
    place                 integer  Where the answer stood on the screen, from 1.
    shown                 texts    The options in the order of the screen.
    created_at            time     When it was given, in UTC.
    given                 integer  Its place among the judgments of its task, by time, from 1.
    active_ms             integer  Milliseconds with the page in view.
    elapsed_ms            integer  Milliseconds from showing to answering.
    counted               boolean  It counts.
    withdrawn             boolean  It takes the answer back.
    surplus               boolean  It came after its place was filled.
    instructions_version  integer  Of the instructions that were read.
    language              text     Of the page.
    reason                text     What the annotator wrote with it.
    flags                 texts    What was reported from the screen.
"""
TASKS = """
    type       text     Of the item.
    subtype    text     Of the item.
    overlap    integer  Judgments wanted.
    shared     boolean  It is in the sample for agreement.
    batch      integer  Number of the batch.
    shows      texts    What was shown, by identity.
    options    texts    What could be picked, by identity.
    proposals  texts    Edits that were offered.
    texts      object   The words behind identities.
    carried    object   What earlier stages gave the item.
    gold       texts    The right answers of a check.
    own        boolean  The item is of the benchmark; else it was brought for practice.
"""
TEXTS = """
    annotator   text     A pseudonym; empty for adjudicators.
    screen      integer  Which screen of the annotator for this task.
    revision    integer  1, and one more for each change.
    counted     boolean  It counts.
    withdrawn   boolean  It was taken back.
    created_at  time     When it was given, in UTC.
    edit        text     Name of the edit.
    by          text     annotator or adjudicator.
    role        text     Of the caption.
    made_of     text     The text that it was made of, by identity.
    before      text     Its words.
    text        text     The words that were taken.
"""
STAGES = columns("""
    stage         text     Name of the stage.
    batch         integer  Number of their batch.
    place         integer  Their place in the batch.
    screened_out  boolean  They did not pass its entry.
    skipped       integer  Screens that they skipped.
    passed        object   Whether they passed the questions about the rules, and the practice.
""")
ANNOTATORS = """
    annotator         text     A pseudonym.
    simulated         boolean  A program, not a person.
    excluded          boolean  Nothing of theirs counts.
    exclusion_reason  text     Why.
    left              boolean  They left before the end.
    stages            objects  The stages that they were in.
"""
FLAGS = """
    annotator  text     A pseudonym.
    reason     text     What they wrote.
    settled    boolean  Somebody has dealt with it.
"""
SHOWN = """
    sha256       text     SHA-256 of its bytes.
    file_names   texts    Its names in the files of the release.
    format       text     JPEG, PNG, WEBP or GIF.
    width        integer  In pixels.
    height       integer  In pixels.
    source_name  text     Its file's name in the import.
    licence      text     As imported.
    attribution  text     As imported.
"""
OF_ITEM = {"decisions": DECISIONS, "captions": CAPTIONS, "images": IMAGES}
ITEMS, GONE = (columns(block, **OF_ITEM) for block in (ITEM + KEPT + MATERIAL, ITEM + DROPPED + MATERIAL))
OF_TASK = ("stage", "item", "question", "round", "kind")


def _table(name: str, says: str, found: tuple[Column, ...], *key: str, ending: str = "jsonl") -> Table:
    return Table(name, f"{name}.{ending}", says, found, key)


LISTED = (
    _table(
        "judgments",
        "Every judgment and each revision of it, also those that do not count.",
        columns(TASK + JUDGMENTS),
        *(*OF_TASK, "annotator", "slot", "screen", "revision"),
        ending="parquet",
    ),
    _table("items", "The kept items: what each stage said by which votes, every caption and image.", ITEMS, "id"),
    _table("dropped", "The dropped items, each with the stage and the reason.", GONE, "id"),
    _table("tasks", "Everything that was asked, and what came of it.", columns(TASK + TASKS + CAME + BY), *OF_TASK),
    _table(
        "texts",
        "Every text that people wrote or took, and what it was made of.",
        columns(TASK + TEXTS),
        *(*OF_TASK, "annotator", "screen", "revision", "role"),
    ),
    _table("adjudications", "What adjudicators decided.", columns(ASKED + CAME + NOTE), *OF_TASK[:-1]),
    _table("annotators", "The annotators, by pseudonym.", columns(ANNOTATORS, stages=STAGES), "annotator"),
    _table("flags", "What annotators reported.", columns(ASKED + FLAGS)),
    _table("images", "Each image of the data once, with its licence and attribution.", columns(SHOWN), "sha256"),
)
TABLES: Mapping[str, Table] = {table.name: table for table in LISTED}


def there(release: Files, table: Table) -> list[Column]:
    """Those of its columns that its file has, in the table's order: all of a file without rows, none without a file.

    A column that the table does not know is left out.
    """
    if table.file not in release.names():
        return []
    parquet = table.file.endswith(".parquet")
    names = set(release.schema(table.file).names if parquet else chain.from_iterable(release.lines(table.file)))
    return [column for column in table.columns if column.name in names or not names]
