"""What pages say of models that see no image."""

import pytest
from django.urls import reverse

from tests.builders import predictions, studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db


def reader(benchmark, title: str):
    """A run that sees no image, and is right about every item."""
    of = {item: predictions.pairs(1.0, 0.0) for item in benchmark.items.all()}
    return predictions.model(benchmark, of, title, "sugarcrepe", blind=True)


def test_the_warning_stands_on_the_benchmark_its_study_and_the_report(admin_client):
    benchmark = studies.benchmark(items=12)
    study = studies.study(benchmark=benchmark)
    addresses = [reverse("benchmark-detail", args=[benchmark.pk])]
    addresses += [reverse(name, args=[study.pk]) for name in ("study-detail", "study-report")]
    assert not any("which sees no image" in admin_client.get(address).content.decode() for address in addresses)
    reader(benchmark, "Reader")
    reader(benchmark, "Other")
    for address in addresses:
        page = admin_client.get(address).content.decode()
        assert "Other, which sees no image" in page and "refine the benchmark" in page
    page = collapsed(admin_client.get(addresses[0]).content.decode())
    assert f'blind "{benchmark.name}" --refine' in page.replace("&quot;", '"')
