"""The page for scoring a benchmark with a model."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job, TrainedModel
from benchmarks.permissions import StaffRequest
from benchmarks.scoring import score

LISTED = 100  # trained models to choose from


class ScoreForm(OrderForm):
    """The worker checks whether the model exists: this process does not know open_clip."""

    takes = score.ScoreOrder

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].widget.attrs["list"] = "trained-models"


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark, user = permissions.benchmark_for(request.user, pk), request.user
    asked = asked_before(request, *score.MEASURES)
    if "seeds" in asked:
        asked.setdefault("measure", score.RETRIEVAL)  # of jobs from before there were order tasks
    form = ScoreForm(request.POST or None, initial={"model": request.GET.get("model", "")} | asked)

    def queue() -> Job:
        return score.queue_score(benchmark=benchmark, order=form.order, by=named(user), created_by=user)

    trained = TrainedModel.objects.all()[:LISTED]
    return order_page(request, "scoring/new.html", form, queue, benchmark=benchmark, trained=trained)
