"""What comes out of a study: its figures, releases, report and exports."""

from annotation.exports import job as export_job
from annotation.figures import human_baseline
from annotation.models import Strategy, Study
from annotation.releases.listing import list_row, releases_of

RELEASES = 5
EXPORTS = 5


def contents(study: Study) -> dict:
    """Everything that the page shows."""
    stages = list(study.stages.order_by("position"))
    return {
        "study": study,
        "releases": [list_row(release) for release in releases_of(study)[:RELEASES]],
        "exports": list(export_job.exports_of(study)[:EXPORTS]),
        "measured": bool(human_baseline.pairs_of(stages)),
        "audits": [stage for stage in stages if stage.strategy == Strategy.AUDIT],
    }
