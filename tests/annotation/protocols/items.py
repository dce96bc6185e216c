"""Items as plain records, for tests of protocols."""

from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord


def item(captions=("positive", "negative"), images=("positive", *["candidate"] * 4), rounds=None) -> ItemRecord:
    """Roles of its captions and images; `rounds` of its images, 1 for all where it is left out."""
    made = zip(images, rounds or [1] * len(images), strict=True)
    return ItemRecord(
        key="7",
        type="swap",
        subtype="att",
        captions=tuple(CaptionRecord(role, f"The {role} words.") for role in captions),
        images=tuple(ImageRecord(role, f"{n}.jpg", round=r) for n, (role, r) in enumerate(made)),
    )


BOTH = ("positive", "negative")
