"""How long pages of the API's large lists take as a study grows: the first, one in the middle, and filtered ones.

    python -m bench.api_pages                        (about 3 GB of temporary disk; some minutes)
    python -m bench.api_pages --judgments 1000 10000

The studies are those of bench.study_page, all in one database; times are of whole requests through Django's test
client, of 100 rows unless said otherwise, the median of several.
"""

import argparse
import sys

from bench import scratch
from bench.study_page import filled, milliseconds

ASKED = {
    "judgments": "judgments/",
    "in the middle": "judgments/?cursor={middle}",
    "1,000 of them": "judgments/?limit=1000",
    "of one annotator": "judgments/?annotator=A-07",
    "not counted": "judgments/?counted=false",
    "the last day's": "judgments/?since={since}",
    "tasks": "tasks/",
    "open tasks": "tasks/?state=open",
    "annotators": "annotators/",
    "flags": "flags/",
}


def measured(judgments: int) -> list[float]:
    from django.contrib.auth.models import User
    from django.test import Client

    stage, client = filled(judgments), Client()
    client.force_login(User.objects.get_or_create(username="ana", defaults={"is_staff": True, "is_superuser": True})[0])
    values = {"middle": middle(stage, judgments), "since": since()}
    pages = [f"/api/studies/{stage.study_id}/{asked.format(**values)}" for asked in ASKED.values()]
    client.get(pages[0])
    return [milliseconds(lambda page=page: client.get(page)) for page in pages]


def middle(stage, judgments: int) -> str:
    """The cursor of a page half way through."""
    from base64 import b64encode

    from annotation.models import Judgment

    given = Judgment.objects.filter(lease__task__stage=stage).order_by("pk")
    return b64encode(f"p={given[judgments // 2].pk}".encode()).decode()


def since() -> str:
    from datetime import timedelta

    from django.utils import timezone

    return (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--judgments", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    given = options.parse_args()
    print(f"| judgments | {' | '.join(ASKED)} |\n|{'---|' * (len(ASKED) + 1)}")
    with scratch.winnow(durable=False):
        from django.conf import settings

        settings.ALLOWED_HOSTS = ["testserver"]
        for judgments in given.judgments:
            print(f"| {judgments:,} | {' | '.join(f'{time:,.0f}' for time in measured(judgments))} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
