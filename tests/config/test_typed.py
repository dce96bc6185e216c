"""What a page reads before it lets go of what was typed: that this very form arrived."""

import pytest
from django.contrib.auth.models import User

from tests.builders import studies

pytestmark = pytest.mark.django_db
KEY = "k" * 20


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"text": "A rule."}, {f"winnow-typed-{KEY}": "302"}),
        ({"text": "A rule.", "preview": "1"}, {f"winnow-typed-{KEY}": "200"}),
        ({"text": "A rule.", "seen": "of another version"}, {f"winnow-typed-{KEY}": "422"}),
        ({"text": "A rule.", "typed_key": "x; path=/"}, {}),
    ],
)
@pytest.mark.parametrize("logged_in", [True, False])
def test_a_form_that_arrived_is_confirmed_with_its_status(client, sent, said, logged_in):
    stage = studies.stage(items=1)
    if logged_in:
        client.force_login(User.objects.create_superuser("ana", last_login=None))
    answer = client.post(f"/studies/{stage.study_id}/settings/instructions/?stage=1", {"typed_key": KEY} | sent)
    found = {name: cookie.value for name, cookie in answer.cookies.items() if name.startswith("winnow-typed")}
    assert found == (said if logged_in else {})
