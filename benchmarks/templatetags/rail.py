"""The template tag for the rail of a benchmark's pages."""

from django import template
from django.urls import reverse

from benchmarks import permissions
from benchmarks.places import Place, links

register = template.Library()

PLACES = (
    Place("items", "Items", "benchmark-detail"),
    Place("models", "Models", "benchmark-models", (
        ("People and models", "benchmark-models"), ("Score with a model", "score-new"), ("Ask an endpoint", "ask-new"),
        ("Import predictions", "predictions-new"), ("Reported results", "reported-new"), ("Train a model", "train-new"),
    )),
    Place("material", "New material", "captions-new", (
        ("Generate captions", "captions-new"), ("Generate images", "images-new"),
    )),
    Place("corrections", "Corrections", "corrections-new"),
    Place("ratings", "Ratings", "ratings-new"),
    Place("settings", "Settings", "benchmark-settings", (
        ("Rename, archive, delete", "benchmark-settings"), ("Webhooks", "benchmark-webhooks"),
    )),
)  # fmt: skip
WITHIN = {name: place.key for place in PLACES for name in (place.address, *(name for _, name in place.parts))}
WITHIN |= {"item-correct": "corrections", "webhook-detail": "settings"}
CHANGES = {"images-new", "corrections-new", "benchmark-settings"}
OWN_HOOKS = Place("settings", "Settings", "benchmark-webhooks")  # for its maker if they may not change it


@register.inclusion_tag("components/_rail.html", takes_context=True)
def benchmark_rail(context: template.Context) -> dict:
    """Return the places of the page's `benchmark`, without those where the user may not change anything."""
    request, benchmark = context["request"], context["benchmark"]
    kind, user = context.get("kind_of_job"), request.user
    name = (kind and kind.form) or request.resolver_match.url_name  # a job belongs to the place of its form
    hidden = set() if permissions.may_change_benchmark(user, benchmark) else CHANGES
    places = (*PLACES, OWN_HOOKS) if hidden and permissions.may_manage_webhooks(user, benchmark) else PLACES
    counts = {"items": benchmark.items.count()}
    return {
        "label": "Benchmark", "name": benchmark.name, "up": ("All benchmarks", reverse("benchmark-list")),
        "links": links(
            places, lambda place: reverse(place, args=[benchmark.pk]), WITHIN.get(name, ""), name, hidden, counts, {}
        ),
    }  # fmt: skip
