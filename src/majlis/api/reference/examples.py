"""An example body for each operation that takes one. Tests check them against the schemas and send them."""

from __future__ import annotations

from typing import Any

_SPACE = "spc_01jq3v8x2k7m9a0b"
_AGENT = "ent_01jq3vaf6d8r2f3g"
_MESSAGE = "msg_01jq3vbk8e5t4h5j"
_LEASE = "4f1c9a7be2d84d1f"
_CONFIG = {"instructions": "You review releases.", "model": "demo", "mind": "timeline"}

EXAMPLES: dict[str, Any] = {
    "messages_create": {"text": "@Scout is the release ready?", "clientId": "release-42"},
    "messages_change": {"text": "@Scout is release 42 ready?"},
    "entities_put_push": {
        "endpoint": "https://push.example.com/v2/3f9a",
        "keys": {
            "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
            "auth": "BTBZMqHH6r4Tts7J_aSIgg",
        },
        "timeZone": "Asia/Baghdad",
    },
    "entities_unsubscribe_push": {"endpoint": "https://push.example.com/v2/3f9a"},
    "entities_put_active": {"active": True},
    "entities_patch_preferences": {"theme": "dark", "quiet": {"from": "22:00", "to": "07:00"}},
    "spaces_create": {"name": "Releases", "description": "What ships, and when.", "triggers": "mentioned"},
    "spaces_direct": {"entityId": _AGENT},
    "spaces_change": {"triggers": "everyone", "maxChainDepth": 3},
    "spaces_add": {"entityId": _AGENT, "role": "member"},
    "spaces_read": {"lastMessageId": _MESSAGE},
    "spaces_enter_phase": {"phase": "review", "message": "Everything is merged."},
    "invites_create": {"role": "member", "uses": 5},
    "runs_submit_result": {"toolCallId": "call_7Qw2", "result": {"approved": True}},
    "asks_create": {
        "spaceId": _SPACE,
        "kind": "choice",
        "question": "Ship release 42?",
        "options": ["yes", "no"],
        "from": ["Ada"],
        "within": "2 hours",
        "clientId": "ship-42",
    },
    "asks_answer": {"result": "yes"},
    "inbox_take": {"max": 1, "waitSeconds": 30},
    "inbox_renew": {"lease": _LEASE},
    "inbox_settle": {"lease": _LEASE, "state": "done"},
    "inbox_trigger": {"serviceName": "Shop", "payload": {"order": 1234}, "eventId": "order-1234"},
    "entities_create": {"type": "human", "name": "Ada"},
    "entities_change": {"name": "Ada Lovelace"},
    "tokens_create": {"label": "laptop", "scopes": ["read", "write"]},
    "session_sign_in": {"code": "7f3kq9"},
    "agents_create": {"name": "Scout", "config": _CONFIG},
    "agents_change": {"config": {**_CONFIG, "window": 80}},
    "agents_try_out": {"text": "@Scout is the release ready?", "spaceId": _SPACE},
    "agents_put_memory": {"value": "Releases ship on Tuesdays."},
    "budgets_replace": {"budgets": [{"scope": "gateway", "usd": 20}, {"scope": "agent", "id": _AGENT, "usd": 5}]},
    "secrets_begin_sign_in": {"name": "linear", "url": "https://mcp.example.com/mcp"},
    "secrets_put": {"value": "sk-…", "hosts": ["api.openai.com"]},
    "models_put": {"hosts": ["api.openai.com", "127.0.0.1:11434"]},
    "models_look": {"provider": "ollama"},
    "models_test": {"model": "ollama:qwen3"},
    "models_connect": {"model": "openai:gpt-5.2", "key": "sk-…", "default": True},
    "models_use": {"agents": [_AGENT]},
    "openai_complete": {
        "model": "agent:Scout",
        "messages": [{"role": "user", "content": "Is the release ready?"}],
        "conversation": "release-42",
    },
    "webhooks_create": {
        "name": "GitHub",
        "spaceId": _SPACE,
        "verify": {"scheme": "github", "secret": "secret:GITHUB_HOOK"},
        "template": "{{payload.sender.login}} pushed to {{payload.repository.name}}",
    },
    "webhooks_create_sender": {"url": "https://example.com/majlis", "spaceId": _SPACE, "events": ["space.message"]},
}
