"""Tool policies: which tools are allowed, need a person's approval, or are denied. The first matching rule decides.

They apply to the tools of configs and MCP servers, not to the built-in ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from majlis.agents.config.tools import BUILT_IN_TOOLS
from majlis.agents.config.types import Matching, Wire, refusal

Verdict = Literal["allow", "ask", "deny"]
MAX_RULES = 64
_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def _not_built_in(pattern: str) -> str:
    if pattern.casefold() in BUILT_IN_TOOLS:
        raise refusal("is a built-in tool; a policy applies only to tools of configs and MCP servers")
    return pattern


class PolicyRule(Wire):
    tools: Annotated[
        str,
        Matching(
            r"[a-zA-Z0-9_*?.-]{1,128}",
            "should be the name of a tool, or a pattern with * (any characters) and ? (one character)",
        ),
        AfterValidator(_not_built_in),
    ]
    """A name, or a pattern with `*` and `?`. Case is ignored."""
    do: Verdict
    """`ask`: a person in the active space has to approve each call."""


Policy = Annotated[tuple[PolicyRule, ...], Field(max_length=MAX_RULES)]


def verdict(rules: Iterable[PolicyRule | Mapping[str, Any]], name: str) -> Verdict:
    """Of the first matching rule; without one, "allow"."""
    folded = name.casefold()
    for rule in rules:
        pattern, do = (rule.tools, rule.do) if isinstance(rule, PolicyRule) else (rule["tools"], rule["do"])
        if fnmatchcase(folded, pattern.casefold()):
            return do
    return "allow"


def stricter(one: Verdict, other: Verdict) -> Verdict:
    return max(one, other, key=_STRICTNESS.__getitem__)
