"""A benchmark goes, and of its images those that no other item shows."""

from django.db import connection, transaction
from django.db.models import ProtectedError

from benchmarks import audit
from benchmarks.housekeeping.deferred_files import DeferredFiles, deferred_files
from benchmarks.imports import staging
from benchmarks.models import Benchmark, Embedding, Image, Item

# Locked, so that no item comes to show one of them before they are gone.
ALONE = """
SELECT image.* FROM benchmarks_image image
WHERE image.id IN (SELECT used.image_id FROM benchmarks_itemimage used
                   JOIN benchmarks_item item ON item.id = used.item_id WHERE item.benchmark_id = %s)
  AND NOT EXISTS (SELECT FROM benchmarks_itemimage other JOIN benchmarks_item item ON item.id = other.item_id
                  WHERE other.image_id = image.id AND item.benchmark_id <> %s)
FOR UPDATE OF image
"""
# Tables that hang on the items, then the items, then what shows nothing any more.
ROWS = (
    "DELETE FROM benchmarks_prediction WHERE run_id IN (SELECT id FROM benchmarks_run WHERE benchmark_id = %s)",
    "DELETE FROM benchmarks_caption WHERE item_id IN (SELECT id FROM benchmarks_item WHERE benchmark_id = %s)",
    "DELETE FROM benchmarks_itemimage WHERE item_id IN (SELECT id FROM benchmarks_item WHERE benchmark_id = %s)",
)
BATCH = 1000


class CannotDelete(ValueError):
    """It stays; the message says why."""


def delete_benchmark(*, benchmark: Benchmark, by: str) -> dict:
    """Its rows, then the files of images that nothing else shows. {"items", "images", "bytes"} of what went.

    Raises CannotDelete while a study uses it, or while an import runs that may refer to the same images.
    """
    try:
        with deferred_files() as after:
            return _rows(benchmark, by, after)
    except staging.InUse as why:
        raise CannotDelete(str(why)) from None


@transaction.atomic
def _rows(benchmark: Benchmark, by: str, after: DeferredFiles) -> dict:
    staging.images_go()
    benchmark = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    _check_unused(benchmark)
    went = {"items": benchmark.items.count(), "images": 0, "bytes": 0}
    images = list(Image.objects.raw(ALONE, [benchmark.pk, benchmark.pk]))
    went |= {"images": after.images(images), "bytes": sum(image.size for image in images)}
    audit.record(by=by, verb="deleted", subject=benchmark, name=benchmark.name, afterwards=after.id, **went)
    with connection.cursor() as cursor:
        for statement in ROWS:
            cursor.execute(statement, [benchmark.pk])
    try:
        benchmark.delete()
    except ProtectedError as error:
        names = ", ".join(sorted({str(one._meta.verbose_name) for one in error.protected_objects}))
        raise CannotDelete(f"“{benchmark}” stays: a {names} refers to it.") from None
    _forget(images)
    return went


def _check_unused(benchmark: Benchmark) -> None:
    if studies := list(benchmark.studies.order_by("name").values_list("name", flat=True)[:5]):
        raise CannotDelete(f"“{benchmark}” is used by {', '.join(map('“{}”'.format, studies))}. Delete that first.")
    if Item.objects.filter(benchmark=benchmark, tasks__isnull=False).exists():
        raise CannotDelete(f"Items of “{benchmark}” are checks or practice in a study. Delete that study first.")


def _forget(images: list[Image]) -> None:
    """The rows, and what models made of the pictures."""
    for start in range(0, len(images), BATCH):
        part = images[start : start + BATCH]
        Embedding.objects.filter(content__in=[image.sha256 for image in part]).delete()
        Image.objects.filter(pk__in=[image.pk for image in part]).delete()
