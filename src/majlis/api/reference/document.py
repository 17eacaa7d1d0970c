"""Completes the OpenAPI document that FastAPI makes from the routes."""

from __future__ import annotations

from typing import Any

from majlis.api.reference.examples import EXAMPLES
from majlis.api.reference.words import ABOUT, PARAMETERS, TAGS, WORDS, Words

_TOKEN: list[dict[str, list[str]]] = [{"token": []}]
_ANY = [*_TOKEN, {"session": []}]
# Without a token, and with nothing but a token.
_OPEN = frozenset({"session_sign_in"})
_ONLY_TOKEN = frozenset({"openai", "mcp"})
_SUCCESS = {"201": "Created.", "202": "Accepted; it happens later.", "204": "Done."}
_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of a member. Its scopes may limit it to `read`, `write`, `approve` or `admin`.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "majlis_session",
        "description": "A browser session. Over HTTPS the cookie is called `__Host-majlis_session`.",
    },
}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    document["info"] |= {"summary": "People and AI agents as members of shared spaces.", "description": ABOUT}
    document["info"]["license"] = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
    document["tags"] = [
        {"name": name, "description": text, "x-displayName": title} for name, (title, text) in TAGS.items()
    ]
    document["components"]["securitySchemes"] = _SCHEMES
    document["security"] = _ANY
    for methods in document["paths"].values():
        for operation in methods.values():
            _complete(operation)
    return document


def _complete(operation: dict[str, Any]) -> None:
    name, tags = operation["operationId"], set(operation["tags"])
    words = WORDS.get(name, Words(operation.get("summary", "")))
    operation["summary"] = words.summary
    operation["description"] = operation.get("description") or words.description
    if name in _OPEN or "health" in tags:
        operation["security"] = []
    elif tags & _ONLY_TOKEN:
        operation["security"] = _TOKEN
    for parameter in operation.get("parameters", ()):
        parameter.setdefault("description", PARAMETERS.get(parameter["name"], ""))
    for status, response in operation["responses"].items():
        if response["description"] == "Successful Response":
            response["description"] = _SUCCESS.get(status, "As described.")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and name in EXAMPLES:
        body["example"] = EXAMPLES[name]
