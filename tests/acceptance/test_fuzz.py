"""The OpenAPI document, fuzzed against a real server: no 5xx, and every answer as the document says."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from majlis.api.app import openapi_document
from tests.acceptance.processes import OWNER_TOKEN
from tests.conftest import ENGINES
from tests.databases import PostgresDatabases, SqliteDatabases

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Streams do not end by themselves; they have tests of their own.
STREAMS = r"/events$"


@pytest.fixture(scope="module", params=ENGINES)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    engine = "sqlite_databases" if request.param == "sqlite" else "postgres_databases"
    databases: SqliteDatabases | PostgresDatabases = request.getfixturevalue(engine)
    url = databases.fresh()
    data_dir: Path = tmp_path_factory.mktemp("fuzz")
    environment = {
        **os.environ,
        "MAJLIS_DATABASE_URL": url,
        "MAJLIS_OWNER_TOKEN": OWNER_TOKEN,
        "MAJLIS_SIGN_INS_PER_MINUTE": "100000",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "-m", "majlis", "serve", "--port", "0", "--data-dir", str(data_dir)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().removeprefix("Majlis is at ").strip()
        yield base_url
        process.terminate()
        assert process.wait() == 0
    databases.drop(url)


@pytest.fixture
def known_ids(served: str) -> dict[str, str]:
    """Something to find: real ids in paths, so that requests get past "unknown" to what they are about."""
    with httpx.Client(base_url=served, headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, verify=False) as http:

        def made(path: str, body: Any) -> str:
            return str(http.post(path, json=body).raise_for_status().json()["id"])

        mark = uuid.uuid4().hex[:8]
        agent = made("/api/agents", {"name": f"Agent {mark}", "config": {}})
        person = made("/api/entities", {"type": "human", "name": f"Person {mark}"})
        space = made("/api/spaces", {"name": "Fuzz"})
        made(f"/api/spaces/{space}/members", {"entityId": person})
        return {
            "agent_id": agent,
            "entity_id": person,
            "space_id": space,
            "message_id": made(f"/api/spaces/{space}/messages", {"text": "hello"}),
            "token_id": made(f"/api/entities/{person}/tokens", {}),
        }


schema = schemathesis.openapi.from_dict(openapi_document()).exclude(path_regex=STREAMS)


@schema.parametrize()
@settings(
    max_examples=20,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_no_request_makes_the_server_fail_or_break_its_word(served: str, known_ids: dict[str, str], case: Any) -> None:
    case.path_parameters = {name: known_ids.get(name, value) for name, value in (case.path_parameters or {}).items()}
    case.call_and_validate(base_url=served, headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, checks=CHECKS)
