"""Registers what annotation does about events of benchmarks, in every process that loads the app."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.pipeline import promotion
        from benchmarks.imports import listeners

        listeners.on_imported(promotion.take_in_benchmark)
