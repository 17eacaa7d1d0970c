"""The OpenAPI document is complete and has stable names, because SDKs are generated from it."""

from __future__ import annotations

from majlis.api.app import openapi_document

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
    "agents_list_plans": "get /api/agents/{agent_id}/plans",
    "entities_change": "patch /api/entities/{entity_id}",
    "entities_create": "post /api/entities",
    "entities_delete": "delete /api/entities/{entity_id}",
    "entities_get_me": "get /api/me",
    "entities_get_one": "get /api/entities/{entity_id}",
    "entities_list_all": "get /api/entities",
    "health_get_health": "get /api/health",
    "health_get_live": "get /api/health/live",
    "health_get_ready": "get /api/health/ready",
    "inbox_list_cycles_of": "get /api/agents/{agent_id}/consciousness",
    "inbox_list_of_agent": "get /api/agents/{agent_id}/inbox",
    "inbox_list_of_message": "get /api/messages/{message_id}/deliveries",
    "inbox_trigger": "post /api/agents/{agent_id}/trigger",
    "inbox_retry": "post /api/messages/{message_id}/deliveries/{agent_id}/retry",
    "live_follow_all": "get /api/events",
    "live_follow_space": "get /api/spaces/{space_id}/events",
    "messages_create": "post /api/spaces/{space_id}/messages",
    "messages_find": "get /api/search",
    "messages_get_one": "get /api/messages/{message_id}",
    "messages_list_of_space": "get /api/spaces/{space_id}/messages",
    "runs_cancel": "post /api/runs/{run_id}/cancel",
    "runs_get_context_of": "get /api/runs/{run_id}/context",
    "runs_get_one": "get /api/runs/{run_id}",
    "runs_get_usage_of": "get /api/agents/{agent_id}/usage",
    "runs_list_usage_by_day_of": "get /api/agents/{agent_id}/usage/days",
    "runs_list_mine": "get /api/runs",
    "runs_list_pending_calls": "get /api/tool-calls",
    "runs_list_steps_of": "get /api/runs/{run_id}/steps",
    "runs_submit_result": "post /api/runs/{run_id}/tool-results",
    "session_end": "delete /api/session",
    "session_sign_in": "post /api/session",
    "spaces_add": "post /api/spaces/{space_id}/members",
    "spaces_change": "patch /api/spaces/{space_id}",
    "spaces_create": "post /api/spaces",
    "spaces_delete": "delete /api/spaces/{space_id}",
    "spaces_enter_phase": "post /api/spaces/{space_id}/phase",
    "spaces_list_all": "get /api/spaces/all",
    "spaces_get_one": "get /api/spaces/{space_id}",
    "spaces_list_members_of": "get /api/spaces/{space_id}/members",
    "spaces_list_mine": "get /api/spaces",
    "spaces_list_phases_of": "get /api/spaces/{space_id}/phases",
    "spaces_read": "post /api/spaces/{space_id}/read",
    "spaces_remove": "delete /api/spaces/{space_id}/members/{entity_id}",
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
            assert "204" in good or all(responses[status].get("content") for status in good), (method, path)
