"""`majlis ask`: puts a question to a space, and waits for the answer. The exit code tells a script which answer it
was."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from majlis.card_kinds import options_of
from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import open_space
from majlis.cli.terminal import note, print_json, print_line, safe
from majlis.errors import ConfigurationError, Invalid, Unavailable

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

# 1 is a failure and 2 is wrong usage, as in every command, so a script cannot take them for an answer.
EXPIRED = 3
STILL_OPEN = 4
OTHER = 10

_WAIT_SECONDS = 25.0
# The server may restart meanwhile.
_PATIENCE_SECONDS = 300.0


@over_http
async def ask(
    client: MajlisClient,
    space: Annotated[str | None, typer.Argument(metavar="SPACE", help="Name or id of the space.")] = None,
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="The question.")] = None,
    choice: Annotated[list[str] | None, typer.Option(help="An option to choose from; can be repeated.")] = None,
    approval: Annotated[bool, typer.Option("--approval", help="Ask to approve or decline.")] = False,
    form: Annotated[Path | None, typer.Option(help="File with a JSON Schema of the fields to fill in.")] = None,
    from_: Annotated[
        list[str] | None, typer.Option("--from", metavar="NAME", help="A member who can answer; can be repeated.")
    ] = None,
    need: Annotated[str | None, typer.Option(help='How many have to answer, or "all" of --from.')] = None,
    within: Annotated[
        str | None, typer.Option(help='How long it can be answered, such as "2 hours".  [default: 1 day]')
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the answer.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--timeout", metavar="SECONDS", help="Stop waiting after this time. The question stays open."),
    ] = None,
    show: Annotated[str | None, typer.Option(metavar="ID", help="Show an earlier question, or wait for it.")] = None,
    client_id: Annotated[
        str | None, typer.Option(help="ID that you choose; a question with the same id is asked only once.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask the members of a space a question.

    Without --wait it prints the id. With it, it prints the answer. Exit codes: 0 approved, the first choice, or any
    text; 10 declined or the second choice, 11 the third and so on; 3 expired; 4 still open after --timeout.
    """
    if show is not None:
        found = await client.get_ask(show)
    elif space is None or question is None:
        raise ConfigurationError("Give a space and a question, or --show with the id of an earlier one.")
    else:
        kind = _kind(choice, approval, form)
        space_id = (await open_space(client, space))["id"]
        schema = _schema(form) if form is not None else None
        found = await client.create_ask(space_id, kind, question, choice, schema, from_, _need(need), within, client_id)
    if wait or seconds is not None:
        found = await _wait(client, found, seconds)
    elif show is None:
        print_json(found) if as_json else print_line(found["id"])
        return
    print_json(found) if as_json else _print(found)
    code = exit_code(found)
    if code:
        raise typer.Exit(code)


def exit_code(ask: shapes.AskJson) -> int:
    """With several answers, the highest code counts: 0 only if every member said yes."""
    if ask["status"] == "open":
        return STILL_OPEN
    if ask["status"] == "expired":
        return EXPIRED
    numbers = [_number(ask, answer["result"]) for answer in ask["answers"] if not answer["late"]]
    highest = max(numbers, default=0)
    return OTHER + highest - 1 if highest else 0


def _number(ask: shapes.AskJson, result: Any) -> int:
    """The place of the answer among the choices."""
    if result is None:
        return 0
    if ask["kind"] == "approval":
        return 0 if result["approved"] else 1
    if ask["kind"] != "choice":
        return 0
    return options_of(ask["schema"]).index(result["choice"])


async def _wait(client: MajlisClient, found: shapes.AskJson, seconds: float | None) -> shapes.AskJson:
    until = time.monotonic() + seconds if seconds is not None else float("inf")
    failing_since: float | None = None
    try:
        while found["status"] == "open" and (left := until - time.monotonic()) > 0:
            try:
                found = await client.get_ask(found["id"], min(_WAIT_SECONDS, left))
                failing_since = None
            except Unavailable:
                failing_since = failing_since or time.monotonic()
                if time.monotonic() - failing_since > _PATIENCE_SECONDS:
                    raise
                await asyncio.sleep(1)
    except BaseException:
        note(f"The question stays open. Continue with: majlis ask --show {found['id']} --wait")
        raise
    if found["status"] == "open":
        note(f"No answer yet. Continue with: majlis ask --show {found['id']} --wait")
    return found


def _print(ask: shapes.AskJson) -> None:
    counted = [answer for answer in ask["answers"] if not answer["late"]]
    for answer in counted:
        text = _words(ask["kind"], answer["result"])
        print_line(safe(f"{answer['name']}: {text}" if ask["need"] > 1 else text))
    if ask["status"] == "expired":
        note(_EXPIRED[ask["reason"] or "timeout"])
    elif ask["status"] == "open" and not counted:
        note(f"Not answered yet. It expires {ask['expiresAt']}.")


_EXPIRED = {
    "timeout": "It expired without the answers that it needs.",
    "left": "It ended: the members who could answer have left the space.",
    "withdrawn": "It ended: the program that asked is no longer a member of the space.",
    "deleted": "It ended: the question was deleted.",
}


def _words(kind: shapes.AskKind, result: Any) -> str:
    if result is None:
        return "(deleted)"
    match kind:
        case "choice":
            return str(result["choice"])
        case "text":
            return str(result["text"])
        case "approval":
            comment = f": {result['comment']}" if result.get("comment") else ""
            return f"{'approved' if result['approved'] else 'declined'}{comment}"
    return json.dumps(result, ensure_ascii=False)


def _kind(choice: list[str] | None, approval: bool, form: Path | None) -> shapes.AskKind:
    given: list[shapes.AskKind] = []
    given += ["choice"] if choice else []
    given += ["approval"] if approval else []
    given += ["form"] if form is not None else []
    if len(given) > 1:
        raise ConfigurationError("Use only one of --choice, --approval and --form.")
    return given[0] if given else "text"


def _need(text: str | None) -> int | Literal["all"] | None:
    if text is None or text == "any":
        return None
    if text == "all":
        return "all"
    if not text.isdecimal():
        raise ConfigurationError('--need is a number, "any" or "all".')
    return int(text)


def _schema(path: Path) -> dict[str, Any]:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        found = json.loads(text)
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {error.strerror}.") from None
    except ValueError:
        raise Invalid("invalid_schema", f"{path} is not JSON.") from None
    if not isinstance(found, dict):
        raise Invalid("invalid_schema", f"{path} is not a JSON Schema: it should be an object.")
    return found
