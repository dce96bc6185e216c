"""The page for generating candidate images."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.generation import images
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest


class ImagesForm(OrderForm):
    """The worker checks whether the pipeline exists."""

    takes = images.ImagesOrder


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def images_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark, user = permissions.benchmark_for(request.user, pk, change=True), request.user
    form = ImagesForm(request.POST or None, initial=asked_before(request, images.KIND))

    def queue() -> Job:
        return images.queue_images(benchmark=benchmark, order=form.order, by=named(user), created_by=user)

    return order_page(request, "generation/new_images.html", form, queue, benchmark=benchmark)
