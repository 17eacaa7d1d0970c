"""Tool policies: which tools are allowed, need a person's approval, or are denied. The first matching rule decides.

A pattern applies to the tools of configs and MCP servers. A rule applies to a built-in tool only if it names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from majlis.agents.config.tools import BUILT_IN_TOOLS
from majlis.agents.config.types import Matching, Maybe, Wire, refusal

Verdict = Literal["allow", "ask", "deny"]
MAX_RULES = 64
_STRICTNESS: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


Approver = Annotated[
    str,
    Matching(
        r"admins|space-admins|members|ent_[0-9a-z]{16}",
        'should be "admins", "space-admins", "members" or the id of a person',
    ),
]


class PolicyRule(Wire):
    tools: Annotated[
        str,
        Matching(
            r"[a-zA-Z0-9_*?.-]{1,128}",
            "should be the name of a tool, or a pattern with * (any characters) and ? (one character)",
        ),
    ]
    """A name, or a pattern with `*` and `?`. Case is ignored. No pattern covers a built-in tool, such as
    `send_message`; name it."""
    do: Verdict
    """`ask`: a person has to approve each call."""
    approvers: Maybe[Annotated[list[Approver], Field(min_length=1, max_length=20)]] = None
    """`ask` only: "admins" (of the gateway), "space-admins", "members", or ids of people. Default: "admins" for a rule
    in an agent's config, "space-admins" for a rule of a space."""
    requester_may_approve: Maybe[bool] = None
    """`ask` only: the person whom the run works for may approve its calls too. Default: false."""

    @model_validator(mode="after")
    def _approvers_go_with_ask(self) -> Self:
        if self.do != "ask" and (self.approvers is not None or self.requester_may_approve is not None):
            at = "approvers" if self.approvers is not None else "requesterMayApprove"
            raise refusal('is for rules with "ask" only; remove it', at)
        return self


Policy = Annotated[tuple[PolicyRule, ...], Field(max_length=MAX_RULES)]


def verdict(rules: Iterable[PolicyRule | Mapping[str, Any]], name: str) -> Verdict:
    """The effect of the first matching rule; without one, "allow"."""
    rule = _first(rules, name)
    return "allow" if rule is None else rule["do"]


def approval(rules: Iterable[PolicyRule | Mapping[str, Any]], name: str, default: str) -> list[dict[str, Any]]:
    """The approvers that the first matching rule names if it asks; `default` if it names none."""
    rule = _first(rules, name)
    if rule is None or rule["do"] != "ask":
        return []
    allowed = bool(rule.get("requesterMayApprove"))
    return [{"approvers": rule.get("approvers") or [default], "requesterMayApprove": allowed}]


def _first(rules: Iterable[PolicyRule | Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    folded = name.casefold()
    for each in rules:
        rule = each.model_dump(by_alias=True) if isinstance(each, PolicyRule) else each
        pattern = rule["tools"].casefold()
        if folded == pattern or (folded not in BUILT_IN_TOOLS and fnmatchcase(folded, pattern)):
            return rule
    return None


def stricter(one: Verdict, other: Verdict) -> Verdict:
    return max(one, other, key=_STRICTNESS.__getitem__)
