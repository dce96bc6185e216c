"""Connects rooms at the start of every process: events of benchmarks, and where protocol files are kept."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation import outbox, permissions  # noqa: F401  # the latter guards benchmarks and jobs
        from annotation.models.protocol_files import text_of_version
        from annotation.pipeline import corrections, promotion
        from annotation.protocols import registry
        from annotation.studies import members
        from benchmarks import audit
        from benchmarks.accounts import roles
        from benchmarks.corrections import followers
        from benchmarks.imports import listeners
        from benchmarks.training import released

        registry.find_published_with(text_of_version)
        listeners.on_imported(promotion.take_in_benchmark)
        listeners.read_people_with(_people_of_release)
        followers.followed_by(followers.Follower(corrections.lock, corrections.follow))
        roles.on_rights(members.follow_groups)
        audit.followed_by(outbox.follow)
        released.find_with(_splits_for_trainings)


def _splits_for_trainings(user=None):
    from annotation.releases import lifecycle  # imported late: it would cost each command half a second

    return lifecycle.splits_for_trainings(user)


def _people_of_release(folder, kind, log):
    from annotation.releases import people

    return people.people_of(folder, kind, log)
