"""Change an audit's target: a tighter one resumes an audit that has stopped."""

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Stage, StageState, Strategy
from annotation.pipeline import audit_order, audits, promotion
from annotation.wording import exact
from benchmarks import audit
from benchmarks.transactions import retry_deadlocks


class CannotAim(ValueError):
    """The target cannot be changed to this; the message explains why."""


def in_percent(stage: Stage) -> float:
    return round(100 * (stage.target_bound or stage.target_half_width or 0), 6)


@retry_deadlocks
@transaction.atomic
def set_target(*, stage: Stage, share: float, by: str, seen: str = "", stops_if_futile: bool | None = None) -> Stage:
    """Set the half-width, or the bound if the audit has one, and close or reopen the stage accordingly. `seen` is the
    target in percent that its page showed; `stops_if_futile`: an audit with a bound also stops once the bound is out of
    reach (None: as before). Raises CannotAim, also if the target has changed by now.
    """
    stage = promotion.lock_stage(stage)
    if stage.strategy != Strategy.AUDIT:
        raise CannotAim("This stage is not an audit.")
    if seen and seen != str(in_percent(stage)):
        raise CannotAim(
            f"Somebody else has changed the target to {exact(in_percent(stage))}% since you opened the page, so your "
            f"{exact(round(100 * share, 6))}% was not saved. Change it again if you still want to."
        )
    name = "target_half_width" if stage.target_bound is None else "target_bound"
    before, judged = getattr(stage, name), audits.progress_of(stage).n
    setattr(stage, name, share)
    try:
        stage.clean_fields(exclude=[field.name for field in stage._meta.fields if field.name != name])
    except ValidationError:
        raise CannotAim("Enter a target of at least 0.1%; a half-width can be at most 50%.") from None
    stage.save(update_fields=[name])
    if share != before:
        audit.record(by=by, verb=audits.CHANGED, subject=stage, before=before, after=share, judged=judged)
    asks = stops_if_futile is not None and stage.target_bound is not None
    if asks and stops_if_futile != audits.stops_if_futile(stage):
        audit.record(by=by, verb=audits.FUTILITY, subject=stage, stops=stops_if_futile, judged=judged)
    if stage.state == StageState.CLOSED and not audits.progress_of(stage).ended:
        promotion.set_state(stage, StageState.OPEN)
        last_task = promotion.last_task(stage)
        audit.record(by=by, verb=f"moved to {StageState.OPEN}", subject=stage, promoted=0, last_task=last_task)
    elif not audits.stop_if_over(stage) and stage.state == StageState.OPEN:
        audit_order.give_out_as_planned(stage)
    return Stage.objects.get(pk=stage.pk)
