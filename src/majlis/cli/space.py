"""`majlis space`: spaces and their members, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from majlis.cli.command import AsJson
from majlis.cli.printing import print_json, print_line, print_table, shown_time
from majlis.cli.running import over_http
from majlis.cli.terminal import safe_line

if TYPE_CHECKING:
    from majlis.client import MajlisClient
    from majlis.client.shapes import MemberJson, MessageJson, SpaceJson

app = typer.Typer(rich_markup_mode=None, help="List, make and show spaces, and say who is in them.")

Space = Annotated[str, typer.Argument(metavar="SPACE", help="The space's name or id.")]
Who = Annotated[str, typer.Argument(metavar="NAME", help="The name or id of a person, agent or service.")]
_PREVIEW = 60


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List your spaces, the liveliest first."""
    spaces = await client.list_spaces()
    if as_json:
        print_json(spaces)
        return
    rows = [
        (s["id"], s["name"], str(len(s["members"])), str(s["unreadCount"]), _preview(s["lastMessage"])) for s in spaces
    ]
    print_table(("Space", "Name", "Members", "Unread", "Last message"), rows, "You are in no space yet.")


@app.command()
@over_http
async def create(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    description: Annotated[str | None, typer.Option(help="What it is about.")] = None,
    triggers: Annotated[
        Literal["everyone", "mentioned"] | None, typer.Option(help="Which agents a message wakes; everyone at first.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a space; you are its first member and admin."""
    space = await client.create_space(name, description, triggers)
    if as_json:
        print_json(space)
    else:
        print_line(f"Made {safe_line(space['name'])}, {space['id']}.")


@app.command()
@over_http
async def show(client: MajlisClient, space: Space, as_json: AsJson = False) -> None:
    """Show what a space is about and who is in it."""
    found = await _find(client, space)
    if as_json:
        print_json(found)
        return
    print_table(("Space", found["id"]), _facts(found), "")
    print_line("")
    _print_members(found["members"])


@app.command()
@over_http
async def members(client: MajlisClient, space: Space, as_json: AsJson = False) -> None:
    """List who is in a space."""
    found = await client.list_members((await _find(client, space))["id"])
    if as_json:
        print_json(found)
    else:
        _print_members(found)


@app.command()
@over_http
async def add_member(
    client: MajlisClient,
    space: Space,
    name: Who,
    role: Annotated[Literal["admin", "member", "viewer"] | None, typer.Option(help="member at first.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let somebody into a space, or give a member another role."""
    from majlis.cli.lookup import find_entity

    found, who = await _find(client, space), await find_entity(client, name)
    member = await client.add_member(found["id"], who["id"], role)
    if as_json:
        print_json(member)
    else:
        print_line(f"{safe_line(member['name'])} is in {safe_line(found['name'])} as {member['role']}.")


@app.command()
@over_http
async def remove_member(client: MajlisClient, space: Space, name: Who, as_json: AsJson = False) -> None:
    """Take somebody out of a space."""
    from majlis.cli.lookup import find_entity

    found, who = await _find(client, space), await find_entity(client, name)
    await client.remove_member(found["id"], who["id"])
    if as_json:
        print_json({"spaceId": found["id"], "entityId": who["id"], "removed": True})
    else:
        print_line(f"{safe_line(who['name'])} is no longer in {safe_line(found['name'])}.")


@app.command()
@over_http
async def policy(
    client: MajlisClient,
    space: Space,
    rules: Annotated[list[str] | None, typer.Argument(metavar="TOOLS=DO", help="Such as 'deploy*=ask'.")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Allow everything again.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show which tools agents may use in a space, or set it: allow, ask or deny, by name; the first rule that fits."""
    found = await _find(client, space)
    if rules or clear:
        wanted: Any = [dict(zip(("tools", "do"), rule.rpartition("=")[::2], strict=True)) for rule in rules or ()]
        found = await client.change_space(found["id"], tool_policy=wanted or None)
    if as_json:
        print_json(found["toolPolicy"])
    else:
        rows = [(rule["tools"], rule["do"]) for rule in found["toolPolicy"]]
        print_table(("Tools", "Do"), rows, f"In {safe_line(found['name'])} agents may use all their tools.")


async def _find(client: MajlisClient, asked: str) -> SpaceJson:
    from majlis.cli.lookup import find_space

    return await find_space(client, asked)


def _facts(space: SpaceJson) -> list[tuple[str, str]]:
    return [
        ("Name", space["name"]),
        ("About", space["description"] or "–"),
        ("Phase", space["phase"] or "–"),
        ("Triggers", space["triggers"]),
        ("Made", shown_time(space["createdAt"])),
        ("Your role", space["role"]),
        ("Unread", str(space["unreadCount"])),
        ("Last message", _preview(space["lastMessage"]) or "–"),
    ]


def _print_members(found: list[MemberJson]) -> None:
    rows = [(m["id"], m["name"], m["type"], m["role"], shown_time(m["joinedAt"])) for m in found]
    print_table(("Member", "Name", "Type", "Role", "Joined"), rows, "Nobody is in this space.")


def _preview(message: MessageJson | None) -> str:
    if message is None:
        return ""
    text = f"{message['sender']['name']}: {message['text']}"
    return text if len(text) <= _PREVIEW else f"{text[: _PREVIEW - 1]}…"
