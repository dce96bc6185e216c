"""How long the pages of a study's items take: 7,512 items judged twice, beside another benchmark of the same size.

    python -m bench.item_search

Starts a PostgreSQL and a Valkey of its own. Times are of whole requests through Django's test client: the median and
the longest of nine, after a first one.
"""

import statistics
import time

from bench import scratch

ITEMS, PEOPLE, RUNS = 7512, 8, 9
QUERIES = (
    "", "?page=151", "?sort=key&page=76", "?sort=type&page=76", "?q=item-7", "?q=negative caption of item 75",
    "?q=nowhere", "?type=swap&subtype=att", "?outcome=kept", "?outcome=dropped", "?outcome=no_image_fits",
    "?outcome=open", "?outcome=absent", "?outcome=dropped&q=caption&type=swap&sort=key", "5000/",
)  # fmt: skip


def main() -> None:
    with scratch.winnow(durable=False):
        from django.conf import settings
        from django.contrib.auth.models import User
        from django.db import connection
        from django.test import Client

        from tests.builders import crowds

        settings.ALLOWED_HOSTS = ["testserver"]
        settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
        crowds.benchmark(ITEMS)
        stage = crowds.stage(ITEMS, PEOPLE)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
        client = Client()
        client.force_login(User.objects.create_superuser("ana"))
        pages = [f"/studies/{stage.study_id}/items/{query}" for query in QUERIES]
        for page in [*pages, f"/benchmarks/{stage.study.benchmark_id}/?q=caption of item 7000"]:
            taken = [seconds(client, page) for _ in range(RUNS + 1)][1:]
            print(f"{statistics.median(taken) * 1000:5.0f} ms, at most {max(taken) * 1000:5.0f} ms  {page}", flush=True)


def seconds(client, page: str) -> float:
    began = time.perf_counter()
    assert client.get(page).status_code == 200, page
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
