"""`majlis runs` and `majlis run`: the work of agents, over HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import find_entity, find_space
from majlis.cli.terminal import (
    local_time,
    print_json,
    print_line,
    print_list,
    print_result,
    print_table,
    safe,
    safe_line,
    shorten,
)
from majlis.cli.usage import money

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Show or cancel a run.")

COLUMNS = ("ID", "Agent", "Status", "Trigger", "Tokens", "Created")
_PAGE = 200
_TRIGGER_PREVIEW = 60
_STEP_PREVIEW = 200
Status = Literal["queued", "running", "waiting_reply", "waiting_tool", "completed", "failed", "canceled"]
RunId = Annotated[str, typer.Argument(metavar="ID", help="ID of the run (run_…).")]


@over_http
async def runs(
    client: MajlisClient,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only runs of this agent.")] = None,
    space: Annotated[str | None, typer.Option(metavar="SPACE", help="Only runs triggered in this space.")] = None,
    status: Annotated[Status | None, typer.Option(help="Only runs with this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of runs.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List runs of agents, newest first."""
    agent_id = (await find_entity(client, agent))["id"] if agent else None
    space_id = (await find_space(client, space))["id"] if space else None
    found: list[shapes.RunJson] = []
    while True:
        before = found[-1]["id"] if found else None
        page = await client.list_runs(agent_id, space_id, status, min(_PAGE, limit - len(found)), before)
        found += page["runs"]
        if not page["hasMore"] or len(found) >= limit:
            break
    print_list(found, as_json, COLUMNS, map(run_row, found), "No runs found.")


@app.command()
@over_http
async def show(
    client: MajlisClient,
    run_id: RunId,
    context: Annotated[bool, typer.Option("--context", help="Also show what the model was sent.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a run: its trigger, steps and token usage."""
    run, steps = await client.get_run(run_id), await client.list_steps(run_id)
    sent = await client.get_context(run_id) if context else None
    if as_json:
        print_json({"run": run, "steps": steps} | ({"context": sent} if sent else {}))
        return
    print_table(("ID", run["id"]), _facts(run))
    print_line("")
    print_table(("Step", "Name", "Duration", "Input", "Output"), map(_step_row, steps), "No steps yet.")
    if sent is not None:
        _print_context(sent)


@app.command()
@over_http
async def cancel(client: MajlisClient, run_id: RunId, as_json: AsJson = False) -> None:
    """Cancel a run."""
    run = await client.cancel_run(run_id)
    print_result(run, as_json, f"Canceled {run['id']} of {run['agentName']}.")


def run_row(run: shapes.RunJson) -> tuple[str, ...]:
    status = f"{run['status']} ({run['reason']})" if run["reason"] else run["status"]
    tokens = f"{run['usage']['inputTokens'] + run['usage']['outputTokens']:,}"
    return run["id"], run["agentName"], status, _trigger(run["trigger"]), tokens, local_time(run["createdAt"])


def _trigger(trigger: shapes.TriggerJson) -> str:
    match trigger["type"]:
        case "space_message":
            text = f"{trigger.get('senderName', '?')}: {trigger.get('text', '')}"
        case "plan":
            text = f"plan {trigger.get('planName', '?')}"
        case "service":
            text = f"service {trigger.get('serviceName', '?')}"
        case other:
            text = other.replace("_", " ")
    more = len(trigger.get("events", ())) - 1
    return shorten(text, _TRIGGER_PREVIEW) + (f" (and {more} more)" if more > 0 else "")


def _facts(run: shapes.RunJson) -> list[tuple[str, str]]:
    usage, error, wait = run["usage"], run["error"], run["wait"]
    facts = [
        ("Agent", run["agentName"]),
        ("Status", run["status"]),
        ("Reason", run["reason"] or ""),
        ("Trigger", _trigger(run["trigger"])),
        ("Space", run["trigger"].get("spaceName", "")),
        ("Waiting", _wait(wait) if wait else ""),
        ("Tokens", f"{usage['inputTokens']:,} in ({usage['cachedTokens']:,} cached), {usage['outputTokens']:,} out"),
        ("Requests", f"{usage['requests']}, attempt {run['attempts']}"),
        ("Cost", money(run["cost"]) if run["cost"] is not None else ""),
        ("Started", local_time(run["startedAt"])),
        ("Ended", local_time(run["endedAt"]) if run["endedAt"] else "–"),
        ("Error", f"{error['message']} ({error['code']})" if error else ""),
        *(("Note", note) for note in run["notes"]),
    ]
    return [fact for fact in facts if fact[1]]


def _wait(wait: shapes.WaitJson) -> str:
    card = f"for an answer to {wait['toolName']} " if "toolName" in wait else ""
    return f"{card}since {local_time(wait['startedAt'])}, for at most {wait['timeoutSeconds']} s"


def _step_row(step: shapes.StepJson) -> tuple[str, ...]:
    from majlis.clock import parse_iso

    name = step.get("name") or step["kind"]
    state = "" if step["state"] == "done" else f" ({step['state']})"
    ended = step["endedAt"]
    duration = f"{(parse_iso(ended) - parse_iso(step['startedAt'])) / 1000:.1f} s" if ended else ""
    preview = [shorten(_text(step[key]), _STEP_PREVIEW) for key in ("input", "output")]
    return str(step["n"]), f"{name}{state}", duration, *preview


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# By the server's name for it.
_SAID_BY = {
    "config": "set in the agent's config",
    "server": "reported by the model's server",
    "known": "a known model",
    "default": "the default",
    "learned": "learned when a longer request was refused",
}


def _budget(budget: shapes.PromptBudgetJson) -> str:
    used = sum(part["tokens"] for part in budget["parts"])
    if budget["tokens"] is None:
        return f"about {used:,} tokens, no budget"
    source = f" ({_SAID_BY[budget['source']]})" if budget["source"] else ""
    return f"about {used:,} of {budget['tokens']:,} tokens{source}, {budget['reserved']:,} kept for the answer"


def _print_context(context: shapes.ContextJson) -> None:
    for request, budget in zip(context["requests"], context["budgets"], strict=True):
        names = ", ".join(str(tool.get("function", tool).get("name", "?")) for tool in request["tools"])
        print_line(f"\n── Sent at step {request['step']} ── tools: {safe_line(names) or 'none'}")
        print_line(_budget(budget))
        for message in request["messages"]:
            rest = {key: value for key, value in message.items() if key not in ("role", "content")}
            print_line(f"\n[{safe_line(str(message.get('role', '?')))}]")
            print_line(safe("\n".join(_text(part) for part in (message.get("content"), rest) if part)))
    if not context["requests"]:
        print_line("\nThe context of this run is no longer stored.")
