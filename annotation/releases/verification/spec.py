"""The tables of a release: their keys or columns with the kind of each; a question mark where it may be null."""

KINDS = {"text": str, "int": int, "number": (int, float), "bool": bool, "list": list, "object": dict}


def keys(words: str) -> dict[str, str]:
    """`id:text batch:int?` → key → kind."""
    return dict(word.split(":") for word in words.split())


ABOUT = "stage:text item:text question:text round:int"
TASK = f"{ABOUT} position:int kind:text live:bool"
ITEM = "id:text position:int type:text subtype:text decisions:list captions:list images:list meta:object"
CAME = "state:text? outcome:text? content:object? reason:text? decided_by:text? posterior:number?"
TABLES = {
    "items.jsonl": keys(f"{ITEM} stage:text? negative_image:text? split:text"),
    "dropped.jsonl": keys(f"{ITEM} stage:text reason:text"),
    "tasks.jsonl": keys(
        f"{TASK} type:text subtype:text overlap:int shared:bool batch:int? shows:list options:list proposals:list"
        f" texts:object carried:object gold:list? own:bool {CAME}"
    ),
    "texts.jsonl": keys(
        f"{TASK} annotator:text? screen:int? revision:int? counted:bool withdrawn:bool created_at:text? edit:text?"
        " by:text role:text made_of:text? before:text? text:text"
    ),
    "adjudications.jsonl": keys(f"{ABOUT} state:text outcome:text? content:object? reason:text? note:text? by:text"),
    "annotators.jsonl": keys(
        "annotator:text simulated:bool excluded:bool exclusion_reason:text left:bool? stages:list"
    ),
    "flags.jsonl": keys(f"{ABOUT} annotator:text reason:text? settled:bool"),
    "images.jsonl": keys(
        "sha256:text file_names:list format:text width:int height:int source_name:text licence:text attribution:text"
    ),
}
IMAGE = keys(
    "key:text chosen:bool round:int sha256:text format:text width:int height:int source_name:text licence:text"
    " attribution:text"
)
JUDGMENTS = {
    **dict.fromkeys(
        ("stage", "item", "question", "kind", "type", "subtype", "annotator", "answer", "content", "reason"), "string"
    ),
    **dict.fromkeys(("round", "slot", "screen", "revision", "place", "instructions_version", "given"), "int32"),
    **dict.fromkeys(("live", "excluded", "counted", "withdrawn", "surplus"), "bool"),
    **dict.fromkeys(("position", "active_ms", "elapsed_ms"), "int64"),
    **dict.fromkeys(("shown", "flags"), "list<element: string>"),
    "created_at": "timestamp[us, tz=UTC]",
}

# What has no values where that part is not public.
HIDDEN_COLUMNS = {"times": ("created_at", "active_ms", "elapsed_ms"), "comments": ("reason", "flags")}
HIDDEN = {
    "times": {"texts.jsonl": ("created_at",)},
    "annotators": {"annotators.jsonl": ("left",)},
    "comments": {"adjudications.jsonl": ("note",), "flags.jsonl": ("reason",)},
    "gold": {"tasks.jsonl": ("gold",)},
}


def fits(value: object, kind: str) -> bool:
    if value is None:
        return kind.endswith("?")
    if isinstance(value, bool):
        return kind.startswith("bool")
    return isinstance(value, KINDS[kind.removesuffix("?")])
