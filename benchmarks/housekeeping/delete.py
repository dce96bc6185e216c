"""Delete a benchmark, and those of its images that no other item uses."""

from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError, Q, QuerySet

from benchmarks import audit
from benchmarks.housekeeping.deferred_files import DeferredFiles, deferred_files
from benchmarks.imports import staging
from benchmarks.models import Benchmark, Caption, Correction, Embedding, Image, Item, ItemImage, Prediction, Run

BATCH = 1000
BY_COMMAND = 50_000  # items; with more, the browser would have to wait too long


class CannotDelete(ValueError):
    """The benchmark was not deleted; the message explains why."""


def delete_named(*, benchmark: Benchmark, name: str, by: str) -> dict:
    """Call `delete_benchmark` if the user has typed its name and it is not too large for a request."""
    if benchmark.items.count() > BY_COMMAND:
        raise CannotDelete("This benchmark is too large to delete here. Use manage.py delete_benchmark.")
    if name.strip() != benchmark.name:
        raise CannotDelete("That is not the benchmark’s name. Nothing was deleted.")
    return delete_benchmark(benchmark=benchmark, by=by)


def delete_benchmark(*, benchmark: Benchmark, by: str) -> dict:
    """Delete its rows, then the files of images that nothing else uses. Return {"items", "images", "bytes"} deleted.

    Raises CannotDelete while a study uses it, or while an import that may use the same images is running.
    """
    try:
        with deferred_files() as after:
            return _rows(benchmark, by, after)
    except staging.InUse as why:
        raise CannotDelete(str(why)) from None


def refusal(benchmark: Benchmark) -> str:
    """Return why it cannot be deleted, in a sentence; "" if it can."""
    if studies := list(benchmark.studies.order_by("name").values_list("name", flat=True)[:5]):
        first = "that study" if len(studies) == 1 else "those studies"
        return f"“{benchmark}” is used by {', '.join(map('“{}”'.format, studies))}. Delete {first} first."
    if Item.objects.filter(benchmark=benchmark, tasks__isnull=False).exists():
        return f"Items of “{benchmark}” are checks or practice in a study. Delete that study first."
    return ""


def size(benchmark: Benchmark) -> dict[str, int]:
    """Count the "items" that would be deleted, and the "runs" of models."""
    return {"items": benchmark.items.count(), "runs": Run.objects.filter(benchmark=benchmark).count()}


def _alone(benchmark: Benchmark) -> QuerySet[Image]:
    """Return the images that only this benchmark uses, or used before a correction."""
    shown = ItemImage.objects.filter(item__benchmark=benchmark)
    elsewhere = ItemImage.objects.filter(image=OuterRef("pk")).exclude(item__benchmark=benchmark)
    replaced = Correction.objects.filter(item__benchmark=benchmark, old_image__isnull=False)
    named = Q(old_image=OuterRef("pk")) | Q(new_image=OuterRef("pk"))
    history = Correction.objects.filter(named).exclude(item__benchmark=benchmark)
    return Image.objects.filter(
        Q(pk__in=shown.values("image"))
        | Q(pk__in=replaced.values("old_image"))
        | Q(pk__in=replaced.values("new_image"))
    ).exclude(Exists(elsewhere) | Exists(history))


@transaction.atomic
def _rows(benchmark: Benchmark, by: str, after: DeferredFiles) -> dict:
    staging.images_go()
    benchmark = Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    if why := refusal(benchmark):
        raise CannotDelete(why)
    went = {"items": benchmark.items.count(), "images": 0, "bytes": 0}
    shown = ItemImage.objects.filter(item__benchmark=benchmark)
    images = list(_alone(benchmark).select_for_update())  # no item can start to use one of them before they are gone
    after.files(path for use in shown.only("opaque") for path in (use.framed_path, use.small_path))
    went |= {"images": after.images(images), "bytes": sum(image.size for image in images)}
    audit.record(by=by, verb="deleted", subject=benchmark, name=benchmark.name, afterwards=after.id, **went)
    Prediction.objects.filter(run__benchmark=benchmark)._raw_delete("default")
    Caption.objects.filter(item__benchmark=benchmark)._raw_delete("default")
    shown._raw_delete("default")
    try:
        benchmark.delete()
    except ProtectedError as error:
        names = ", ".join(sorted({str(one._meta.verbose_name) for one in error.protected_objects}))
        raise CannotDelete(f"“{benchmark}” was not deleted because a {names} refers to it.") from None
    for start in range(0, len(images), BATCH):  # the images' embeddings, too
        part = images[start : start + BATCH]
        Embedding.objects.filter(content__in=[image.sha256 for image in part]).delete()
        Image.objects.filter(pk__in=[image.pk for image in part]).delete()
    return went
