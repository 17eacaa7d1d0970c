"""Secrets are never logged, not even after an unexpected failure."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import logging, sys, structlog
from majlis.logs import set_up_logging
from majlis.settings import Settings

set_up_logging(Settings(log_format=sys.argv[1]))

def sign_in(code: str) -> None:
    raise RuntimeError("unforeseen")

try:
    sign_in("mc_" + "secret" * 3)
except RuntimeError as error:
    logger = structlog.get_logger() if sys.argv[2] == "ours" else logging.getLogger("uvicorn.error")
    logger.error("a request failed", exc_info=error)
"""


@pytest.mark.parametrize("whose", ["ours", "of a library"])
@pytest.mark.parametrize("format", ["text", "json"])
def test_a_traceback_in_the_log_shows_where_and_no_values(format: str, whose: str) -> None:
    """In JSON, a library's traceback used to lack the location."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, format, whose], capture_output=True, text=True, check=True)
    assert "unforeseen" in done.stderr
    assert "sign_in" in done.stderr
    assert "secretsecret" not in done.stderr
    if format == "json":
        assert json.loads(done.stderr)["event"] == "a request failed"
