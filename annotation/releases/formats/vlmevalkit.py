"""The questions with options as tables for VLMEvalKit, which `releases.scoring.vlmevalkit` writes. Pure."""

from annotation.releases.formats.base import Form

FORM = Form(
    name="vlmevalkit",
    title="VLMEvalKit",
    what="The questions with options and their images, as a table for each split.",
    writer=None,
)
