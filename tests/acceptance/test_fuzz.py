"""Fuzzes a real server from the OpenAPI document: no 5xx, and every response matches the document."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
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
from tests.acceptance.processes import OWNER_TOKEN, ServerProcess
from tests.cli.processes import Commands
from tests.databases import PostgresDatabases, SqliteDatabases


def not_a_server_error_but_a_deadline(ctx: Any, response: Any, case: Any) -> bool | None:
    """504 is the documented answer to a chat completion whose deadline was too short for its agent."""
    return None if response.status_code == 504 else not_a_server_error(ctx, response, case)


CHECKS = [
    not_a_server_error_but_a_deadline,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
# Streams do not end; other tests cover them.
STREAMS = r"/events$"


@dataclass(frozen=True)
class Served:
    """A server and the ids of some objects, so that requests get past "not found"."""

    base_url: str
    known_ids: dict[str, str]


@pytest.fixture(scope="module")
def both(
    commands: Commands,
    sqlite_databases: SqliteDatabases,
    postgres_databases: PostgresDatabases,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[list[str]]:
    """A server on each engine. Each case is generated once and sent to both, because generating takes longer than
    sending."""
    made = [(databases, databases.fresh()) for databases in (sqlite_databases, postgres_databases)]
    variables = {"MAJLIS_SIGN_INS_PER_MINUTE": "100000"}
    servers = [ServerProcess(commands, url, tmp_path_factory.mktemp("fuzz"), **variables) for _, url in made]
    with asyncio.Runner() as runner:
        yield [runner.run(server.start()).base_url for server in servers]
        assert [runner.run(server.stop()) for server in servers] == [0, 0]
    for databases, url in made:
        databases.drop(url)


@pytest.fixture
def served(both: list[str]) -> list[Served]:
    return [Served(base_url, _made_to_be_found(base_url)) for base_url in both]


def _made_to_be_found(base_url: str) -> dict[str, str]:
    with httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, verify=False) as http:

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
def test_every_response_is_documented_and_none_is_a_server_error(served: list[Served], case: Any) -> None:
    made_up = dict(case.path_parameters or {})
    for each in served:
        case.path_parameters = {name: each.known_ids.get(name, value) for name, value in made_up.items()}
        case.call_and_validate(
            base_url=each.base_url, headers={"Authorization": f"Bearer {OWNER_TOKEN}"}, checks=CHECKS
        )
