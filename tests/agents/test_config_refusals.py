"""An invalid agent config (J4-J6, K7, P6) is refused with the path of the problem and what to do."""

from __future__ import annotations

import json

import pytest

from majlis.agents.config.config import parse_config
from majlis.agents.config.plain_json import MAX_BYTES, MAX_DEPTH
from majlis.agents.config.tools import BUILT_IN_TOOLS
from majlis.errors import Invalid
from tests.agents.configs import DEFAULTS, LIMITS, http, paths, problems, schema, static

BAD: list[tuple[object, str]] = [
    (None, ""),
    ([], ""),
    ("demo", ""),
    ({"colour": "red"}, "colour"),
    ({"limits": {"concurrent_runs": 5}}, "limits.concurrent_runs"),
    ({"limits": {"concurrentRuns": 5, "concurrent_runs": 5}}, "limits.concurrent_runs"),
    ({"instructions": None}, "instructions"),
    ({"instructions": 5}, "instructions"),
    # model
    ({"model": 5}, "model"),
    ({"model": None}, "model"),
    ({"model": ""}, "model"),
    ({"model": "gpt-5.2"}, "model"),
    ({"model": "test"}, "model"),
    ({"model": "opnai:gpt-5.2"}, "model"),
    ({"model": "openai:"}, "model"),
    ({"model": "openai:gpt 5"}, "model"),
    ({"model": "openai:x\n"}, "model"),
    ({"model": "openai:x\u00a0y"}, "model"),
    ({"model": "openai:" + "x" * 201}, "model"),
    ({"model": {}}, "model.provider"),
    ({"model": {"provider": "openai"}}, "model.name"),
    ({"model": {"provider": "demo", "name": "x"}}, "model.provider"),
    ({"model": {"provider": "my-llama", "name": "x"}}, "model.provider"),
    ({"model": {"provider": "my llama", "name": "x", "baseUrl": "http://127.0.0.1:9000/v1"}}, "model.provider"),
    ({"model": {"provider": "", "name": "x", "baseUrl": "http://127.0.0.1:9000/v1"}}, "model.provider"),
    ({"model": {"provider": "openai", "name": "x", "key": "sk-1"}}, "model.key"),
    ({"model": {"provider": "openai", "name": "x", "base_url": "http://a"}}, "model.base_url"),
    *(
        ({"model": {"provider": "openai", "name": "x", "baseUrl": url}}, "model.baseUrl")
        for url in (
            "",
            "127.0.0.1:9000",
            "ftp://example.com",
            "file:///etc/passwd",
            "http://",
            "https:///v1",
            "https://user:pass@example.com/v1",
            "https://token@example.com",
            "http://example.com:port/v1",
            "http://[::1/v1",
            "http://exa mple.com",
            "http://example.com\\@evil.example",
            "https://example.com/v1?key=abc",
            "https://example.com/v1#x",
            "https://example.com/" + "a" * 2048,
        )
    ),
    *(
        ({"model": {"provider": "openai", "name": "x", "apiKeyEnv": name}}, "model.apiKeyEnv")
        for name in (
            "",
            "sk-proj-abcdef",
            "1KEY",
            "MY KEY",
            "MY_KEY\n",
            "${env.KEY}",
            "AKIAIOSFODNN7EXAMPLE",
            "hf_aB3dE5gH7jK9mN1pQ3sT5vW7",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        )
    ),
    *(
        ({"model": {"provider": "openai", "name": "x", "settings": {key: value}}}, f"model.settings.{key}")
        for key, value in (
            ("temperature", "0"),
            ("temperature", True),
            ("temperature", 2.5),
            ("topP", -0.1),
            ("top_p", 0.5),
            ("maxTokens", 0),
            ("maxTokens", 10.0),
            ("seed", 1.5),
            ("stopSequences", "END"),
            ("logitBias", [1]),
            ("thinking", 1),
            ("thinking", "hard"),
            ("extraBody", [1]),
            ("extraHeaders", {"Authorization": "x"}),
            ("apiKey", "sk-1"),
        )
    ),
    # the agent itself
    ({"mind": "dream"}, "mind"),
    ({"waits": 1}, "waits"),
    ({"waits": "true"}, "waits"),
    ({"layout": "Stable"}, "layout"),
    ({"window": "50"}, "window"),
    ({"window": 50.0}, "window"),
    ({"window": True}, "window"),
    ({"window": 1}, "window"),
    ({"window": 501}, "window"),
    ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"timezone": "America"}, "timezone"),
    ({"timezone": "../../etc/passwd"}, "timezone"),
    ({"timezone": ""}, "timezone"),
    ({"projection": None}, "projection"),
    # limits, consciousness, heartbeat
    ({"limits": None}, "limits"),
    ({"limits": []}, "limits"),
    *(({"limits": {name: value}}, f"limits.{name}") for name in LIMITS for value in (0, -1, 10**12)),
    ({"limits": {"steps": "5"}}, "limits.steps"),
    ({"consciousness": {"maxTokens": -1}}, "consciousness.maxTokens"),
    ({"consciousness": {"minRecentCycles": 0}}, "consciousness.minRecentCycles"),
    ({"heartbeat": {}}, "heartbeat.everyMinutes"),
    ({"heartbeat": False}, "heartbeat"),
    ({"heartbeat": {"everyMinutes": 0}}, "heartbeat.everyMinutes"),
    ({"heartbeat": {"everyMinutes": 10081}}, "heartbeat.everyMinutes"),
    ({"heartbeat": {"everyMinutes": 1, "timezone": "Nowhere"}}, "heartbeat.timezone"),
    ({"heartbeat": {"everyMinutes": 1, "activeHours": {"from": "09:00"}}}, "heartbeat.activeHours.to"),
    ({"heartbeat": {"everyMinutes": 1, "activeHours": {"from": "9:00", "to": "18:00"}}}, "heartbeat.activeHours.from"),
    ({"heartbeat": {"everyMinutes": 1, "activeHours": {"from": "09:00", "to": "24:00"}}}, "heartbeat.activeHours.to"),
    ({"heartbeat": {"everyMinutes": 1, "activeHours": {"from": "09:00", "to": "09:00"}}}, "heartbeat.activeHours.to"),
    ({"heartbeat": {"everyMinutes": 1, "activeHours": {"start": "09:00"}}}, "heartbeat.activeHours.start"),
    # tools
    ({"tools": {}}, "tools"),
    ({"tools": [5]}, "tools.0"),
    ({"tools": [{"name": "a"}]}, "tools.0.type"),
    ({"tools": [{"name": "a", "type": "shell"}]}, "tools.0.type"),
    ({"tools": [{"name": "a", "type": 5}]}, "tools.0.type"),
    ({"tools": [{"type": "static", "execution": {"output": 1}}]}, "tools.0.name"),
    *(({"tools": [static(name=name)]}, "tools.0.name") for name in ("", "1a", "a b", "a.b", "a" * 65, "ö", "a\n")),
    *(({"tools": [static(name=name)]}, "tools.0.name") for name in sorted(BUILT_IN_TOOLS)),
    ({"tools": [static(name="Send_Message")]}, "tools.0.name"),
    ({"tools": [static(), static()]}, "tools.1.name"),
    ({"tools": [static(name="Motto"), http(), static()]}, "tools.2.name"),
    ({"tools": [static(name=f"t{i}") for i in range(129)]}, "tools"),
    ({"tools": [static(description=None)]}, "tools.0.description"),
    ({"tools": [static(visible=0)]}, "tools.0.visible"),
    ({"tools": [static(idempotent="yes")]}, "tools.0.idempotent"),
    ({"tools": [static(input_schema={"type": "object"})]}, "tools.0.input_schema"),
    ({"tools": [static(execution={})]}, "tools.0.execution.output"),
    ({"tools": [static(execution={"output": 1, "url": "https://example.com"})]}, "tools.0.execution.url"),
    ({"tools": [static(ui="form")]}, "tools.0.ui"),
    ({"tools": [{"name": "a", "type": "static"}]}, "tools.0.execution"),
    ({"tools": [{"name": "a", "type": "space"}]}, "tools.0.ui"),
    ({"tools": [{"name": "a", "type": "space", "ui": "popup"}]}, "tools.0.ui"),
    ({"tools": [{"name": "a", "type": "space", "ui": "form", "execution": {"timeoutSeconds": 0}}]},
     "tools.0.execution.timeoutSeconds"),
    *(
        ({"tools": [{"name": "a", "type": "python", "execution": {"function": name}}]}, "tools.0.execution.function")
        for name in ("", "deploy", "acme:", ":deploy", "acme tools:deploy", "acme..tools:x", "os:system('rm')", "a:b:c")
    ),
    # input schemas
    ({"tools": [static(inputSchema=True)]}, "tools.0.inputSchema"),
    ({"tools": [static(inputSchema=None)]}, "tools.0.inputSchema"),
    ({"tools": [static(inputSchema={})]}, "tools.0.inputSchema.type"),
    (schema(type="array"), "tools.0.inputSchema.type"),
    (schema(type=["object"]), "tools.0.inputSchema.type"),
    (schema(properties=[]), "tools.0.inputSchema.properties"),
    (schema(properties={"x": {"type": "strin"}}), "tools.0.inputSchema.properties.x.type"),
    (schema(properties={"x": {"minLength": -1}}), "tools.0.inputSchema.properties.x.minLength"),
    (schema(properties={"x": {"pattern": "("}}), "tools.0.inputSchema.properties.x.pattern"),
    (schema(properties={"x": {"pattern": "(" * 5000 + ")" * 5000}}), "tools.0.inputSchema.properties.x.pattern"),
    (schema(patternProperties={"[": {}}), "tools.0.inputSchema.patternProperties.["),
    (schema(required="x"), "tools.0.inputSchema.required"),
    (schema(properties={f"p{i}": {} for i in range(2001)}), "tools.0.inputSchema"),
    *(
        (schema(properties={"x": {"$ref": target}}, **{"$defs": {"a": {}}}), "tools.0.inputSchema.properties.x.$ref")
        for target in (
            "https://example.com/schema.json",
            "file:///etc/passwd",
            "other.json#/$defs/a",
            "#/$defs/b",
            "#/definitions/a",
            "#/properties/x",
            "#a",
            "",
        )
    ),
    (schema(**{"$id": "https://example.com/x"}), "tools.0.inputSchema.$id"),
    (schema(**{"$dynamicRef": "#x"}), "tools.0.inputSchema.$dynamicRef"),
    (schema(**{"$schema": "http://json-schema.org/draft-07/schema#"}), "tools.0.inputSchema.$schema"),
    # http tools
    ({"tools": [{"name": "a", "type": "http"}]}, "tools.0.execution"),
    ({"tools": [{"name": "a", "type": "http", "execution": {}}]}, "tools.0.execution.url"),
    *(
        ({"tools": [http(url=url)]}, "tools.0.execution.url")
        for url in (
            "example.com",
            "file:///etc/passwd",
            "https://user:pass@example.com",
            "https://{{input.host}}/x",
            "https://${env.HOST}/x",
            "https://a.{{ input.host }}:80",
            "{{input.url}}",
            "https://example.com/{{city}}",
            "https://example.com/${HOME}",
            "https://example.com/x?api_key=abc",
            "https://example.com/x?a=1&access_token=abc",
        )
    ),
    ({"tools": [http(method="get")]}, "tools.0.execution.method"),
    ({"tools": [http(method="CONNECT")]}, "tools.0.execution.method"),
    ({"tools": [http(timeoutSeconds=0)]}, "tools.0.execution.timeoutSeconds"),
    ({"tools": [http(timeout=5)]}, "tools.0.execution.timeout"),
    ({"tools": [http(maxBytes=10**9)]}, "tools.0.execution.maxBytes"),
    ({"tools": [http(headers=[])]}, "tools.0.execution.headers"),
    ({"tools": [http(headers={"X-Count": 5})]}, "tools.0.execution.headers.X-Count"),
    *(
        ({"tools": [http(headers={name: "abc"})]}, f"tools.0.execution.headers.{name}")
        for name in ("Authorization", "authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "x-goog-api-key",
                     "PRIVATE-TOKEN", "X-Auth-Key", "CF-Access-Client-Secret", "Host", "Content-Length", "a b", "")
    ),
    ({"tools": [http(headers={"Authorization": "Bearer {{input.key}}"})]}, "tools.0.execution.headers.Authorization"),
    ({"tools": [http(headers={"Authorization": "Bearer ${MY_KEY}"})]}, "tools.0.execution.headers.Authorization"),
    ({"tools": [http(headers={"X-A": "a\r\nHost: evil"})]}, "tools.0.execution.headers.X-A"),
    ({"tools": [http(headers={"X-A": "ü"})]}, "tools.0.execution.headers.X-A"),
    ({"tools": [http(query={"q": ["a"]})]}, "tools.0.execution.query.q"),
    ({"tools": [http(query={"q": None})]}, "tools.0.execution.query.q"),
    ({"tools": [http(query={"q": "{{input.q}"})]}, "tools.0.execution.query.q"),
    ({"tools": [http(query={"api_key": "abc"})]}, "tools.0.execution.query.api_key"),
    ({"tools": [http(body={"a": [{"b": "{{ q }}"}]})]}, "tools.0.execution.body.a.0.b"),
    ({"tools": [http(body={"apiKey": "abc"})]}, "tools.0.execution.body.apiKey"),
    ({"tools": [http(headers={"Accept-Encoding": "gzip"})]}, "tools.0.execution.headers.Accept-Encoding"),
    ({"tools": [http(headers={"Content-Type": "application/json"}, body='{"a": "{{input.a}}"}')]},
     "tools.0.execution.body"),
    # MCP servers
    ({"mcp": {}}, "mcp"),
    ({"mcp": ["wiki"]}, "mcp.0"),
    ({"mcp": [{"url": "https://example.com"}]}, "mcp.0.name"),
    ({"mcp": [{"name": "a b", "url": "https://example.com"}]}, "mcp.0.name"),
    ({"mcp": [{"name": "a"}]}, "mcp.0"),
    ({"mcp": [{"name": "a", "url": "https://example.com", "command": "x"}]}, "mcp.0"),
    ({"mcp": [{"name": "a", "command": "x"}, {"name": "A", "command": "y"}]}, "mcp.1.name"),
    ({"mcp": [{"name": "a", "url": "https://u:p@example.com"}]}, "mcp.0.url"),
    ({"mcp": [{"name": "a", "url": "https://example.com/{{input.x}}"}]}, "mcp.0.url"),
    ({"mcp": [{"name": "a", "url": "https://example.com", "headers": {"Cookie": "a=b"}}]}, "mcp.0.headers.Cookie"),
    ({"mcp": [{"name": "a", "command": "x", "headers": {}}]}, "mcp.0.headers"),
    ({"mcp": [{"name": "a", "command": 5}]}, "mcp.0.command"),
    ({"mcp": [{"name": "a", "command": ""}]}, "mcp.0.command"),
    ({"mcp": [{"name": "a", "command": " "}]}, "mcp.0.command"),
    ({"mcp": [{"name": "a", "command": "npx 'open"}]}, "mcp.0.command"),
    ({"mcp": [{"name": "a", "command": []}]}, "mcp.0.command"),
    ({"mcp": [{"name": "a", "command": ["", "x"]}]}, "mcp.0.command"),
    ({"mcp": [{"name": "a", "command": ["x", 5]}]}, "mcp.0.command.1"),
    ({"mcp": [{"name": "a", "command": "x", "env": {"API_KEY": "abc"}}]}, "mcp.0.env.API_KEY"),
    ({"mcp": [{"name": "a", "command": "x", "env": {"A": "{{input.a}}"}}]}, "mcp.0.env.A"),
    ({"mcp": [{"name": "a", "command": "x", "env": {"A": "${HOME}"}}]}, "mcp.0.env.A"),
    ({"mcp": [{"name": "a", "command": "x", "env": {"A=B": "c"}}]}, "mcp.0.env.A=B"),
    ({"mcp": [{"name": "a", "url": "https://example.com", "env": {}}]}, "mcp.0.env"),
    ({"mcp": [{"name": "a", "url": "https://${env.HOST}/"}]}, "mcp.0.url"),
    ({"mcp": [{"name": "a", "url": "https://example.com", "timeoutSeconds": 0}]}, "mcp.0.timeoutSeconds"),
    ({"mcp": [{"name": "a", "command": "x", "allowedTools": "read"}]}, "mcp.0.allowedTools"),
    ({"mcp": [{"name": "a", "command": "x", "allowedTools": ["read", 5]}]}, "mcp.0.allowedTools.1"),
    ({"mcp": [{"name": "a", "command": "x", "allowedTools": ["read", "read"]}]}, "mcp.0.allowedTools.1"),
    # not JSON, or not text
    ({"instructions": "a\x00b"}, "instructions"),
    ({"instructions": "a\x1b[2J"}, "instructions"),
    ({"instructions": "a\x85b"}, "instructions"),
    ({"instructions": "a\ud800b"}, "instructions"),
    ({"a\x00b": 1}, ""),
    ({"limits": {"\udfff": 1}}, "limits"),
    ({5: 1}, ""),
    ({"window": float("nan")}, "window"),
    ({"window": float("inf")}, "window"),
    ({"window": 2**64}, "window"),
    ({"window": {1, 2}}, "window"),
    ({"tools": (static(),)}, "tools"),
    ({"tools": [static(execution={"output": ["\x00"]})]}, "tools.0.execution.output.0"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "path"), BAD, ids=lambda value: ascii(value)[:80])
def test_a_bad_config_is_refused_with_the_path_of_the_offender(value: object, path: str) -> None:
    assert path in paths(value)


@pytest.mark.parametrize(("value", "path"), BAD, ids=lambda value: ascii(value)[:80])
def test_the_sentence_names_the_first_offender_and_can_be_sent(value: object, path: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_config(value)
    first, message = problems(value)[0]
    assert caught.value.message.startswith(f"The agent config is invalid: {first or 'the whole config'} {message}")
    json.dumps([caught.value.message, caught.value.details], ensure_ascii=False).encode()


def test_a_number_too_long_to_print_is_refused() -> None:
    assert paths({"window": 10**5000}) == ["window"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"model": "opnai:gpt-5.2"}, '"openai"'),
        ({"model": "unknown:gpt-5.2"}, "anthropic, "),
        ({"model": 5}, '"provider:name"'),
        ({"timezone": "Mars"}, "IANA"),
        ({"tools": [http(headers={"Authorization": "Bearer abc"})]}, "${env.NAME}"),
        ({"tools": [http(url="https://example.com/{{city}}")]}, "{{input.name}}"),
        ({"tools": [static(name="skip")]}, "choose another"),
        ({"tools": [{"name": "a", "type": "shell"}]}, "'http', 'python', 'space', 'static'"),
        ({"limits": {"wait_seconds": 5}}, "camelCase"),
        ({"window": 1}, "greater than or equal to 2"),
    ],
)
def test_a_refusal_says_what_to_do(value: object, words: str) -> None:
    assert words in problems(value)[0][1]


@pytest.mark.parametrize(
    "value",
    [
        {"model": {"provider": "openai", "name": "x", "apiKeyEnv": "hf_s3cr3ts3cr3ts3cr3ts3cr3t"}},
        {"model": {"provider": "openai", "name": "x", "baseUrl": "https://u:s3cr3t@example.com"}},
        {"tools": [http(headers={"Authorization": "Bearer s3cr3t"})]},
        {"tools": [http(headers={"X-Api-Key": ["s3cr3t"]})]},
    ],
)
def test_a_refusal_does_not_repeat_the_secret(value: object) -> None:
    assert "s3cr3t" not in str(problems(value))


def test_at_most_twenty_problems_are_listed() -> None:
    assert len(problems({f"key{i}": 1 for i in range(500)})) == 20
    with pytest.raises(Invalid, match=r"\(499 more problems\)"):
        parse_config({f"key{i}": 1 for i in range(500)})


def test_a_long_name_does_not_make_a_long_answer() -> None:
    assert len(paths({"a" * 200_000: 1})[0]) < 600
    assert len(str(problems({"tools": [{"name": "a", "type": "b" * 200_000}]}))) < 2000


def test_a_config_of_256_kib_is_the_largest() -> None:
    room = MAX_BYTES - len(json.dumps(DEFAULTS, separators=(",", ":")))
    assert len(parse_config({"instructions": "a" * room}).instructions) == room
    assert paths({"instructions": "a" * (room + 1)}) == [""]
    assert paths({"instructions": "é" * (room // 2 + 1)}) == [""]


def test_depth_and_number_of_values_are_limited() -> None:
    fits: object = "core"
    for _ in range(MAX_DEPTH - 4):
        fits = [fits]
    assert parse_config({"tools": [static(execution={"output": fits})]})
    assert paths({"tools": [static(execution={"output": [fits]})]})[0].startswith("tools.0.execution.output.0.0")
    assert paths({"tools": [static(execution={"output": [0] * 10_000})]}) == [""]


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: list[object] = []
    ring.append(ring)
    bush: object = []
    for _ in range(MAX_DEPTH - 2):
        bush = [bush] * 100
    assert paths({"tools": ring})[0].startswith("tools.0")
    assert paths({"tools": bush})
