"""The two kinds of stream."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["one space", "all spaces"])
def whole(request: pytest.FixtureRequest) -> bool:
    """Both kinds of stream give the same guarantees."""
    return bool(request.param == "all spaces")
