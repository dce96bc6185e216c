"""Before a stage: comprehension questions, and training with feedback. Both let in, or end with a code (OnFailure)."""

from annotation.models import Kind, Stage


def wanted(stage: Stage) -> bool:
    """Whether somebody who has read the instructions has more to pass before the first screen."""
    return bool(stage.comprehension) or stage.tasks.filter(kind=Kind.TRAINING).exists()
