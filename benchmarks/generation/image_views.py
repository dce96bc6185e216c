"""The page for generating candidate images."""

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.generation import images
from benchmarks.jobs.forms import DescribedForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from workers.models.model_name import LONGEST


class ImagesForm(DescribedForm):
    """The pipeline, what it draws, and how. The worker checks whether it exists."""

    model = forms.CharField(max_length=LONGEST, initial="sdxl-dpo")
    unet = forms.CharField(max_length=LONGEST, required=False)
    count = forms.IntegerField(min_value=1, max_value=images.MOST, initial=4)
    steps = forms.IntegerField(min_value=1, max_value=images.MOST_STEPS, initial=50)
    guidance = forms.FloatField(min_value=0, max_value=images.MOST_GUIDANCE, initial=5.0)
    seed = forms.IntegerField(min_value=0, max_value=images.MOST_SEED, initial=0)
    keys = forms.CharField(required=False, strip=False, widget=forms.Textarea(attrs={"rows": 4}))
    device = forms.CharField(max_length=8, initial="auto")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def clean_keys(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["keys"].splitlines() if line.strip()]


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def images_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark, user = permissions.benchmark_for(request.user, pk, change=True), request.user
    asked = asked_before(request, images.KIND)
    form = ImagesForm(request.POST or None, initial=asked | {"keys": "\n".join(asked.get("keys", ()))})

    def queue() -> Job:
        return images.queue_images(benchmark=benchmark, **form.cleaned_data, by=named(user), created_by=user)

    return order_page(request, "generation/new_images.html", form, queue, benchmark=benchmark)
