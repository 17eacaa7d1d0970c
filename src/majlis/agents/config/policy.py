"""Which tools may be used, and which only with a person's permission: rules by name, the first that fits decides.

For the tools of a config and those of MCP servers. The built-in ones are what an agent is: no rule speaks of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from majlis.agents.config.types import Matching, Wire, refusal

Verdict = Literal["allow", "ask", "deny"]
MAX_RULES = 64
_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def _of_configs(pattern: str) -> str:
    from majlis.agents.config.tools import BUILT_IN_TOOLS

    if pattern.casefold() in BUILT_IN_TOOLS:
        raise refusal("is a built-in tool; a policy is for the tools of configs and MCP servers")
    return pattern


class PolicyRule(Wire):
    tools: Annotated[
        str,
        Matching(
            r"[a-zA-Z0-9_*?.-]{1,128}",
            "should be the name of a tool, or a pattern of names with * (anything) and ? (one character)",
        ),
        AfterValidator(_of_configs),
    ]
    """A name, or a pattern with `*` and `?`; upper and lower case count as the same."""
    do: Verdict
    """`ask`: a person of the active space has to approve each call."""


Policy = Annotated[tuple[PolicyRule, ...], Field(max_length=MAX_RULES)]


def verdict(rules: Iterable[PolicyRule | Mapping[str, Any]], name: str) -> Verdict:
    """What the first rule that fits says; without one the tool is allowed."""
    folded = name.casefold()
    for rule in rules:
        pattern, do = (rule.tools, rule.do) if isinstance(rule, PolicyRule) else (rule["tools"], rule["do"])
        if fnmatchcase(folded, pattern.casefold()):
            return do
    return "allow"


def stricter(one: Verdict, other: Verdict) -> Verdict:
    return max(one, other, key=_STRICTNESS.__getitem__)
