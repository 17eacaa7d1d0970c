"""The OpenAPI document is complete and has stable names, because SDKs are generated from it."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import httpx
import jsonschema_rs
import pytest

from majlis.api.app import openapi_document
from majlis.api.reference.examples import EXAMPLES
from majlis.api.reference.words import WORDS
from tests.pages.markup import Markup
from tests.world import World

OPERATIONS = {
    "agents_change": "patch /api/agents/{agent_id}",
    "agents_create": "post /api/agents",
    "agents_delete": "delete /api/agents/{agent_id}",
    "agents_get_config_schema": "get /api/agents/config-schema",
    "agents_try_out": "post /api/agents/{agent_id}/try",
    "agents_get_one": "get /api/agents/{agent_id}",
    "agents_list_all": "get /api/agents",
    "agents_list_goals": "get /api/agents/{agent_id}/goals",
    "agents_list_memories": "get /api/agents/{agent_id}/memories",
    "agents_list_versions": "get /api/agents/{agent_id}/versions",
    "agents_list_plans": "get /api/agents/{agent_id}/plans",
    "entities_change": "patch /api/entities/{entity_id}",
    "entities_create": "post /api/entities",
    "entities_delete": "delete /api/entities/{entity_id}",
    "entities_get_me": "get /api/me",
    "entities_put_picture": "put /api/entities/{entity_id}/picture",
    "entities_delete_picture": "delete /api/entities/{entity_id}/picture",
    "entities_get_picture": "get /api/pictures/{sha256}",
    "entities_get_push": "get /api/me/push",
    "entities_put_push": "put /api/me/push",
    "entities_unsubscribe_push": "post /api/me/push/unsubscribe",
    "entities_put_active": "put /api/me/active",
    "entities_get_preferences": "get /api/me/preferences",
    "entities_patch_preferences": "patch /api/me/preferences",
    "entities_get_one": "get /api/entities/{entity_id}",
    "entities_list_all": "get /api/entities",
    "files_download": "get /api/files/{file_id}",
    "files_list_of_space": "get /api/spaces/{space_id}/files",
    "files_thumbnail": "get /api/files/{file_id}/thumbnail",
    "files_upload": "post /api/spaces/{space_id}/files",
    "invites_create": "post /api/spaces/{space_id}/invites",
    "invites_end": "delete /api/spaces/{space_id}/invites/{invite_id}",
    "invites_list_of_space": "get /api/spaces/{space_id}/invites",
    "health_get_health": "get /api/health",
    "health_get_live": "get /api/health/live",
    "health_get_ready": "get /api/health/ready",
    "inbox_list_cycles_of": "get /api/agents/{agent_id}/consciousness",
    "inbox_list_of_agent": "get /api/agents/{agent_id}/inbox",
    "inbox_list_of_message": "get /api/messages/{message_id}/deliveries",
    "inbox_trigger": "post /api/agents/{agent_id}/trigger",
    "inbox_take": "post /api/inbox/take",
    "inbox_renew": "post /api/inbox/{delivery_id}/renew",
    "inbox_settle": "post /api/inbox/{delivery_id}/settle",
    "inbox_retry": "post /api/messages/{message_id}/deliveries/{agent_id}/retry",
    "live_follow_all": "get /api/events",
    "live_follow_space": "get /api/spaces/{space_id}/events",
    "messages_create": "post /api/spaces/{space_id}/messages",
    "messages_add_reaction": "put /api/messages/{message_id}/reactions/{emoji}",
    "messages_change": "patch /api/messages/{message_id}",
    "messages_delete": "delete /api/messages/{message_id}",
    "messages_pin_message": "put /api/messages/{message_id}/pin",
    "messages_unpin_message": "delete /api/messages/{message_id}/pin",
    "messages_remove_reaction": "delete /api/messages/{message_id}/reactions/{emoji}",
    "messages_versions": "get /api/messages/{message_id}/versions",
    "messages_find": "get /api/search",
    "messages_generate_again": "post /api/messages/{message_id}/regenerate",
    "messages_get_one": "get /api/messages/{message_id}",
    "messages_get_why_of": "get /api/messages/{message_id}/why",
    "messages_list_of_space": "get /api/spaces/{space_id}/messages",
    "runs_cancel": "post /api/runs/{run_id}/cancel",
    "runs_get_context_of": "get /api/runs/{run_id}/context",
    "runs_get_one": "get /api/runs/{run_id}",
    "runs_get_usage_of": "get /api/agents/{agent_id}/usage",
    "runs_list_usage_by_day_of": "get /api/agents/{agent_id}/usage/days",
    "runs_list_mine": "get /api/runs",
    "runs_list_open_waits": "get /api/waits",
    "runs_list_pending_calls": "get /api/tool-calls",
    "runs_list_steps_of": "get /api/runs/{run_id}/steps",
    "runs_post_unsent_of": "post /api/runs/{run_id}/unsent/post",
    "runs_submit_result": "post /api/runs/{run_id}/tool-results",
    "models_connect": "put /api/models/{name}",
    "models_find": "post /api/models/find",
    "models_list_connected": "get /api/models",
    "models_list_known": "get /api/models/providers",
    "models_look": "post /api/models/look",
    "models_put": "put /api/model-hosts",
    "models_remove": "delete /api/models/{name}",
    "models_show": "get /api/model-hosts",
    "models_test": "post /api/models/test",
    "models_use": "post /api/models/{name}/use",
    "secrets_delete": "delete /api/secrets/{name}",
    "secrets_list_all": "get /api/secrets",
    "secrets_put": "put /api/secrets/{name}",
    "session_end": "delete /api/session",
    "session_sign_in": "post /api/session",
    "tokens_list_access_of": "get /api/entities/{entity_id}/access",
    "agents_put_memory": "put /api/agents/{agent_id}/memories/{key}",
    "agents_delete_memory": "delete /api/agents/{agent_id}/memories/{key}",
    "agents_delete_goal": "delete /api/agents/{agent_id}/goals/{goal_id}",
    "agents_delete_plan": "delete /api/agents/{agent_id}/plans/{plan_id}",
    "agents_delete_waits": "delete /api/agents/{agent_id}/waits",
    "agents_delete_inbox": "delete /api/agents/{agent_id}/inbox",
    "entities_list_blocked": "get /api/blocks",
    "entities_put_block": "put /api/blocks/{entity_id}",
    "entities_delete_block": "delete /api/blocks/{entity_id}",
    "audit_list_entries": "get /api/audit",
    "budgets_list_all": "get /api/budgets",
    "budgets_replace": "put /api/budgets",
    "tokens_end": "delete /api/access/{token_id}",
    "tokens_end_all": "delete /api/entities/{entity_id}/access",
    "spaces_add": "post /api/spaces/{space_id}/members",
    "spaces_change": "patch /api/spaces/{space_id}",
    "spaces_create": "post /api/spaces",
    "spaces_delete": "delete /api/spaces/{space_id}",
    "spaces_enter_phase": "post /api/spaces/{space_id}/phase",
    "spaces_list_all": "get /api/spaces/all",
    "spaces_get_one": "get /api/spaces/{space_id}",
    "spaces_list_members_of": "get /api/spaces/{space_id}/members",
    "spaces_direct": "post /api/direct",
    "asks_answer": "post /api/asks/{ask_id}/answers",
    "asks_create": "post /api/asks",
    "asks_get_one": "get /api/asks/{ask_id}",
    "webhooks_create_sender": "post /api/outgoing-webhooks",
    "webhooks_delete_sender": "delete /api/outgoing-webhooks/{webhook_id}",
    "webhooks_list_deliveries": "get /api/outgoing-webhooks/{webhook_id}/deliveries",
    "webhooks_list_senders": "get /api/outgoing-webhooks",
    "webhooks_retry": "post /api/outgoing-webhooks/{webhook_id}/deliveries/{delivery_id}/retry",
    "webhooks_create": "post /api/incoming-webhooks",
    "webhooks_delete": "delete /api/incoming-webhooks/{webhook_id}",
    "webhooks_list_all": "get /api/incoming-webhooks",
    "openai_complete": "post /v1/chat/completions",
    "openai_get_one": "get /v1/models/{model}",
    "mcp_speak": "post /mcp",
    "secrets_begin_sign_in": "post /api/mcp-sign-ins",
    "openai_list_all": "get /v1/models",
    "spaces_list_mine": "get /api/spaces",
    "spaces_list_pins_of": "get /api/spaces/{space_id}/pins",
    "spaces_list_summaries_of": "get /api/spaces/{space_id}/summaries",
    "spaces_list_phases_of": "get /api/spaces/{space_id}/phases",
    "spaces_pause": "post /api/spaces/{space_id}/pause",
    "spaces_resume": "delete /api/spaces/{space_id}/pause",
    "agents_get_pause": "get /api/pause",
    "agents_pause": "post /api/agents/{agent_id}/pause",
    "agents_pause_all": "post /api/pause",
    "agents_resume": "delete /api/agents/{agent_id}/pause",
    "agents_resume_all": "delete /api/pause",
    "runs_list_failed": "get /api/failures",
    "usage_report": "get /api/usage",
    "spaces_read": "post /api/spaces/{space_id}/read",
    "spaces_type_message": "post /api/spaces/{space_id}/typing",
    "spaces_remove": "delete /api/spaces/{space_id}/members/{entity_id}",
    "system_get_system": "get /api/system",
    "tokens_create": "post /api/entities/{entity_id}/tokens",
    "tokens_create_sign_in_link": "post /api/entities/{entity_id}/sign-in-links",
    "tokens_list_of_entity": "get /api/entities/{entity_id}/tokens",
    "tokens_revoke": "delete /api/tokens/{token_id}",
}


def test_operation_ids_and_routes_are_the_agreed_ones() -> None:
    found = {
        operation["operationId"]: f"{method} {path}"
        for path, methods in openapi_document()["paths"].items()
        for method, operation in methods.items()
    }
    assert found == OPERATIONS


def test_every_operation_describes_its_answer_and_its_refusals() -> None:
    for path, methods in openapi_document()["paths"].items():
        for method, operation in methods.items():
            responses = operation["responses"]
            for status in ("400", "401", "403", "413", "422", "429", "503"):
                schema = responses[status]["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/ErrorBody"}, (method, path, status)
            good = [status for status in responses if status.startswith("2")]
            assert good, (method, path)
            # MCP answers notifications with an empty 202.
            full = set(good) - ({"202"} if path == "/mcp" else set())
            assert "204" in good or all(responses[status].get("content") for status in full), (method, path)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    paths = openapi_document()["paths"]
    return [(path, method, operation) for path, methods in paths.items() for method, operation in methods.items()]


def test_every_operation_has_words_for_readers_and_a_tag() -> None:
    """A new operation needs a line in `api/reference/words.py`."""
    document = openapi_document()
    tags = {tag["name"] for tag in document["tags"]}
    assert {operation["operationId"] for _, _, operation in operations()} == set(WORDS)
    for path, method, operation in operations():
        assert re.fullmatch(r"[A-Z][^.]{3,60}", operation["summary"]), (method, path)
        # A sentence that says more than the summary and can be read on its own.
        assert re.fullmatch(r"(?!For |With |Newest )[A-Z0-9].{20,}[.]", operation["description"], re.DOTALL), (
            method,
            path,
            operation["description"],
        )
        assert operation["description"].rstrip(".") != operation["summary"], (method, path)
        assert operation["tags"][0] in tags, (method, path)
        for parameter in operation.get("parameters", ()):
            assert parameter["description"], (method, path, parameter["name"])
    assert {operation["tags"][0] for _, _, operation in operations()} == tags


def test_every_body_has_an_example_that_fits_it() -> None:
    document = openapi_document()
    used = set()
    for path, method, operation in operations():
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is not None:
            schema = {**body["schema"], "components": document["components"]}
            jsonschema_rs.Draft202012Validator(schema).validate(body["example"])
            used.add(operation["operationId"])
            assert body["example"] == EXAMPLES[operation["operationId"]], (method, path)
    assert used == set(EXAMPLES)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_needs_no_token_is_what_the_document_says(world: World) -> None:
    """And everything else answers 401 without one."""
    schemes = openapi_document()["components"]["securitySchemes"]
    async with httpx.AsyncClient(base_url=world.base_url) as stranger:
        for path, method, operation in operations():
            security = operation.get("security", openapi_document()["security"])
            assert {name for each in security for name in each} <= set(schemes)
            example = EXAMPLES.get(operation["operationId"], {})
            address = re.sub(r"\{\w+\}", "ent_0000000000000000", path)
            answer = await stranger.request(method, address, json=example)
            if operation["operationId"] != "session_sign_in":
                assert (answer.status_code == 401) == bool(security), (method, path, answer.status_code)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_reference_is_a_page_of_the_gateway_with_every_operation_and_type(world: World) -> None:
    async with httpx.AsyncClient(base_url=world.base_url) as stranger:
        page = await stranger.get("/api/reference")
        assert page.status_code == 200
        again = await stranger.get("/api/reference", headers={"If-None-Match": page.headers["etag"]})
        assert again.status_code == 304
    markup = Markup(page.text)
    ids = {attributes["id"] for _, attributes in markup.tags if "id" in attributes}
    assert {operation["operationId"] for _, _, operation in operations()} <= ids
    links = {attributes["href"] for tag, attributes in markup.tags if tag == "a"}
    assert {link[1:] for link in links if link and link.startswith("#")} <= ids
    # Nothing comes from elsewhere.
    assert all((link or "").startswith(("#", "/")) for link in links)
    assert all(file.startswith("/page/") for file in markup.files())
    for _, _, operation in operations():
        assert escape(operation["summary"]) in page.text
