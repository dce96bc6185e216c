"""The exports and releases that the verification's tests share."""

from tests.annotation.releases.conftest import exports, public_releases, studies_exported  # noqa: F401
