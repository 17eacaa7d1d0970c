"""`majlis run`: one run, step by step, and its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_line, print_table, shown_time
from majlis.cli.running import over_http
from majlis.cli.runs import shown_trigger
from majlis.cli.terminal import safe, safe_line

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.client.shapes import ContextJson, RunJson, StepJson, WaitJson

app = typer.Typer(rich_markup_mode=None, help="Show one run, step by step, or end it.")

Run = Annotated[str, typer.Argument(metavar="ID", help="The run's id (run_…).")]
_PREVIEW = 200


@app.command()
@over_http
async def show(
    client: MajlisClient,
    run_id: Run,
    context: Annotated[bool, typer.Option("--context", help="Also all that the model was sent.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show why an agent ran, what it did, and what that cost."""
    run, steps = await client.get_run(run_id), await client.list_steps(run_id)
    sent = await client.get_context(run_id) if context else None
    if as_json:
        print_json({"run": run, "steps": steps} | ({"context": sent} if sent else {}))
        return
    print_table(("Run", run["id"]), _facts(run), "")
    print_line("")
    print_table(("Step", "What", "Took", "Input", "Output"), map(_row, steps), "No step has been done yet.")
    if sent is not None:
        _print_context(sent)


@app.command()
@over_http
async def cancel(client: MajlisClient, run_id: Run, as_json: AsJson = False) -> None:
    """End a run at once; nothing more is sent."""
    run = await client.cancel_run(run_id)
    if as_json:
        print_json(run)
    else:
        print_line(f"{run['id']} of {safe_line(run['agentName'])} is {run['status']}.")


def _facts(run: RunJson) -> list[tuple[str, str]]:
    usage, error, wait = run["usage"], run["error"], run["wait"]
    facts = [
        ("Agent", run["agentName"]),
        ("Status", run["status"]),
        ("Reason", run["reason"] or ""),
        ("Trigger", shown_trigger(run["trigger"])),
        ("In", run["trigger"].get("spaceName", "")),
        ("Waits", _wait(wait) if wait else ""),
        ("Tokens", f"{usage['inputTokens']:,} in ({usage['cachedTokens']:,} cached), {usage['outputTokens']:,} out"),
        ("Requests", f"{usage['requests']}, attempt {run['attempts']}"),
        ("Began", shown_time(run["startedAt"])),
        ("Ended", shown_time(run["endedAt"]) if run["endedAt"] else "not yet"),
        ("Error", f"{error['message']} ({error['code']})" if error else ""),
        *(("Note", note) for note in run["notes"]),
    ]
    return [fact for fact in facts if fact[1]]


def _wait(wait: WaitJson) -> str:
    asked = f"for people's answer to {wait['toolName']}, " if "toolName" in wait else ""
    return f"{asked}since {shown_time(wait['startedAt'])}, for {wait['timeoutSeconds']} s"


def _row(step: StepJson) -> tuple[str, str, str, str, str]:
    what = step.get("name") or step["kind"]
    state = "" if step["state"] == "done" else f" ({step['state']})"
    return str(step["n"]), f"{what}{state}", _took(step), _short(step["input"]), _short(step["output"])


def _took(step: StepJson) -> str:
    from majlis.clock import parse_iso

    if step["endedAt"] is None:
        return ""
    return f"{(parse_iso(step['endedAt']) - parse_iso(step['startedAt'])) / 1000:.1f} s"


def _short(value: Any) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _PREVIEW else f"{text[: _PREVIEW - 1]}…"


def _print_context(context: ContextJson) -> None:
    for request in context["requests"]:
        names = ", ".join(_tool_name(tool) for tool in request["tools"])
        print_line(f"\n── Sent at step {request['step']} ── tools: {safe_line(names) or 'none'}")
        for message in request["messages"]:
            print_line(f"\n[{safe_line(str(message.get('role', '?')))}]")
            print_line(safe(_whole(message)))
    if not context["requests"]:
        print_line("\nWhat the model was sent is not kept any more.")


def _tool_name(tool: Any) -> str:
    return str(tool.get("function", tool).get("name", "?"))


def _whole(message: dict[str, Any]) -> str:
    rest = {key: value for key, value in message.items() if key not in ("role", "content")}
    parts = [message.get("content"), rest or None]
    return "\n".join(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts if part)
