"""A world for measuring pages, by SQL: many small studies, and beside them a large one with one of everything."""

from bench.filled_study import filled

SMALL = 100  # judgments


def small_studies(count: int):
    """Create this many small studies; return the last one."""
    return [filled(SMALL, SMALL, number == 1, number) for number in range(1, count + 1)][-1].study


def large_study(judgments: int):
    """Create a study with this many judgments, as many uses of images, all different, and 500 annotators."""
    return filled(judgments, pictures=judgments).study


def addresses(study, user) -> dict[str, str]:
    """Return the address of each page and list that answers a GET, by name and query. Makes whatever it needs."""
    from annotation.models import Flag, Member, ProtocolDraft, ReaderReport, ReportDoor, Role, SharedResults
    from annotation.protocol_files import drafts
    from benchmarks.jobs import jobs
    from benchmarks.models import Image, Run
    from tests.annotation import test_rights
    from tests.annotation.test_query_counts import PAGES, answers_get
    from tests.builders import declared, releases, webhooks

    Member.objects.get_or_create(study=study, user=user, role=Role.VIEWER)
    draft = ProtocolDraft.objects.first()
    if draft is None:
        declared.published("verify")
        draft = drafts.start_draft(start="verify", user=user, by="bench", benchmark=study.benchmark)
        ReaderReport.objects.create(study=study, key="item-1", text="A typo.")
    run = Run.objects.create(benchmark=study.benchmark, origin="reported", kind="bivlc", title="CLIP")
    job = jobs.queue_job(kind="export", title="Export", params={"study": study.pk}, by="bench")
    ReportDoor.objects.create(study=study)
    SharedResults.objects.create(study=study)
    things = test_rights.World(
        study, study.annotators.first(), Image.objects.first(), run, Flag.objects.first(), job,
        releases.by_hand(study), draft, webhooks.webhook(study), {},
    )  # fmt: skip
    return {
        f"{name}{query and '?'}{query}": f"{test_rights.address(name, things)}{query and '?'}{query}"
        for name in filter(answers_get, test_rights.ROUTES)
        for query in {of.partition("?")[2]: None for of in ["", *PAGES.get(name, ())]}
    }
