"""The page for scoring a benchmark with a model."""

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs.forms import DescribedForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job, TrainedModel
from benchmarks.permissions import StaffRequest
from benchmarks.scoring import score
from workers.models.model_name import LONGEST

LISTED = 100  # trained models to choose from


class ScoreForm(DescribedForm):
    """The model to score with. The worker checks whether it exists: this process does not know open_clip."""

    model = forms.CharField(max_length=LONGEST)
    pretrained = forms.CharField(max_length=LONGEST, required=False)
    device = forms.CharField(max_length=8, initial="auto")
    measure = forms.ChoiceField(
        choices=[(kind, words) for kind, (_, words) in score.MEASURES.items()], initial=score.KIND, required=False
    )
    seeds = forms.IntegerField(min_value=1, max_value=score.MOST_SEEDS, required=False)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        self.fields["model"].widget.attrs["list"] = "trained-models"

    def clean(self) -> None:
        self.cleaned_data["measure"] = self.cleaned_data.get("measure") or score.KIND


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark, user = permissions.benchmark_for(request.user, pk), request.user
    asked = asked_before(request, *score.MEASURES)
    if "seeds" in asked:
        asked.setdefault("measure", score.RETRIEVAL)  # of jobs from before there were order tasks
    form = ScoreForm(request.POST or None, initial={"model": request.GET.get("model", "")} | asked)

    def queue() -> Job:
        return score.queue_score(benchmark=benchmark, **form.cleaned_data, by=named(user), created_by=user)

    trained = TrainedModel.objects.all()[:LISTED]
    return order_page(request, "scoring/new.html", form, queue, benchmark=benchmark, trained=trained)
