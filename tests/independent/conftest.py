"""The exports and releases that the verification's tests share."""

from tests.annotation.conftest import exports  # noqa: F401
from tests.annotation.releases.conftest import public_releases, studies_exported  # noqa: F401
