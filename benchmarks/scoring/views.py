"""The page for scoring a benchmark with a model."""

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs.forms import DescribedForm
from benchmarks.jobs.views import order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from benchmarks.scoring import score
from workers.models.model_name import LONGEST


class ScoreForm(DescribedForm):
    """The model to score with. The worker checks whether it exists: this process does not know open_clip."""

    model = forms.CharField(max_length=LONGEST)
    pretrained = forms.CharField(max_length=LONGEST, required=False)
    device = forms.CharField(max_length=8, initial="auto")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean(self) -> None:
        refuse_paths(self, "model", "pretrained")


def refuse_paths(form: forms.Form, *names: str) -> None:
    """Allow only files in the server's model folder."""
    for name in names:
        if is_path(form.cleaned_data.get(name, "")):
            form.add_error(name, "Give the name of a file or folder in the server's model folder, not a path.")


def is_path(given: str) -> bool:
    """Whether it names a file outside of the model folder, as a whole or behind a prefix such as `local-dir:`."""
    paths = [one.strip() for one in (given, given.partition(":")[2])]
    return any(path.startswith(("/", "~", "./", "../", "\\")) or ".." in path.split("/") for path in paths)


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark, form = permissions.benchmark_for(request.user, pk), ScoreForm(request.POST or None)
    user = request.user

    def queue() -> Job:
        return score.queue_score(benchmark=benchmark, **form.cleaned_data, by=named(user), created_by=user)

    return order_page(request, "scoring/new.html", form, queue, benchmark=benchmark)
