"""`majlis space`: spaces and their members, over HTTP."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from majlis.cli.command import AsJson, Entity, Space, over_http
from majlis.cli.lookup import find_entity, find_space
from majlis.cli.terminal import local_time, print_json, print_line, print_list, print_result, print_table, shorten
from majlis.entities.names import name_key
from majlis.errors import Conflict

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Manage spaces and their members.")

_PREVIEW = 60
_MEMBER_COLUMNS = ("ID", "Name", "Type", "Role", "Joined")


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List your spaces, most recently active first."""
    spaces = await client.list_spaces()
    rows = [
        (s["id"], s["name"], str(len(s["members"])), str(s["unreadCount"]), _preview(s["lastMessage"])) for s in spaces
    ]
    columns = ("ID", "Name", "Members", "Unread", "Last message")
    print_list(spaces, as_json, columns, rows, "You are not a member of any space.")


@app.command()
@over_http
async def create(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the space.")],
    description: Annotated[str | None, typer.Option(help="Description of the space.")] = None,
    triggers: Annotated[
        Literal["everyone", "mentioned", "elected", "orchestrated"] | None,
        typer.Option(
            help="Which agents respond to a message: all, only mentioned ones, the one that its sender last talked "
            "with, or those that --orchestrator routes it to.  [default: everyone]"
        ),
    ] = None,
    orchestrator: Annotated[
        str | None, typer.Option(metavar="AGENT", help="Name or id of the agent that routes messages to the others.")
    ] = None,
    duplicate: Annotated[
        bool,
        typer.Option(
            "--duplicate", help="Create it even if you are in a space with this name. Commands then need its id."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Create a space. You become its admin."""
    if (triggers == "orchestrated") != (orchestrator is not None):
        raise typer.BadParameter("--triggers orchestrated and --orchestrator AGENT go together. Give both.")
    if not duplicate:
        await _require_new_name(client, name, ", or add --duplicate if you want two")
    routes = (await find_entity(client, orchestrator))["id"] if orchestrator is not None else None
    space = await client.create_space(name, description, triggers, routes)
    print_result(space, as_json, f"Created space {space['name']} ({space['id']}).")


@app.command()
@over_http
async def rename(
    client: MajlisClient,
    space: Space,
    name: Annotated[str, typer.Argument(metavar="NEW-NAME", help="The new name.")],
    as_json: AsJson = False,
) -> None:
    """Rename a space."""
    found = await find_space(client, space)
    if name_key(name) != name_key(found["name"]):
        await _require_new_name(client, name)
    changed = await client.change_space(found["id"], name=name)
    print_result(changed, as_json, f"Renamed {found['name']} to {changed['name']} ({changed['id']}).")


@app.command()
@over_http
async def remove(
    client: MajlisClient,
    space: Space,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a space with all its messages. Asks first on a terminal."""
    found = await find_space(client, space)
    if not yes and sys.stdin.isatty():
        typer.confirm(f"Remove {found['name']} ({found['id']}) with all its messages?", abort=True, err=True)
    await client.delete_space(found["id"])
    print_result({"id": found["id"], "removed": True}, as_json, f"Removed {found['name']} ({found['id']}).")


@app.command()
@over_http
async def show(client: MajlisClient, space: Space, as_json: AsJson = False) -> None:
    """Show a space and its members."""
    found = await find_space(client, space)
    if as_json:
        print_json(found)
        return
    facts = [
        ("Name", found["name"]),
        ("Description", found["description"] or "–"),
        ("Phase", found["phase"] or "–"),
        ("Triggers", found["triggers"]),
        ("Created", local_time(found["createdAt"])),
        ("Your role", found["role"]),
        ("Unread", str(found["unreadCount"])),
        ("Last message", _preview(found["lastMessage"]) or "–"),
    ]
    print_table(("ID", found["id"]), facts)
    print_line("")
    print_table(_MEMBER_COLUMNS, map(_member, found["members"]))


@app.command()
@over_http
async def members(client: MajlisClient, space: Space, as_json: AsJson = False) -> None:
    """List the members of a space."""
    found = await client.list_members((await find_space(client, space))["id"])
    print_list(found, as_json, _MEMBER_COLUMNS, map(_member, found), "The space has no members.")


@app.command()
@over_http
async def add_member(
    client: MajlisClient,
    space: Space,
    name: Entity,
    role: Annotated[
        Literal["admin", "member", "viewer"] | None, typer.Option(help="Role in the space.  [default: member]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a member to a space, or change a member's role."""
    found, entity = await find_space(client, space), await find_entity(client, name)
    member = await client.add_member(found["id"], entity["id"], role)
    print_result(member, as_json, f"{member['name']} is now in {found['name']} with the role {member['role']}.")


@app.command()
@over_http
async def remove_member(client: MajlisClient, space: Space, name: Entity, as_json: AsJson = False) -> None:
    """Remove a member from a space."""
    found, entity = await find_space(client, space), await find_entity(client, name)
    await client.remove_member(found["id"], entity["id"])
    result = {"spaceId": found["id"], "entityId": entity["id"], "removed": True}
    print_result(result, as_json, f"Removed {entity['name']} from {found['name']}.")


@app.command()
@over_http
async def invite(
    client: MajlisClient,
    space: Space,
    role: Annotated[
        Literal["admin", "member", "viewer"] | None, typer.Option(help="Role in the space.  [default: member]")
    ] = None,
    uses: Annotated[int | None, typer.Option(help="Number of people who can join with it.  [default: 1]")] = None,
    expires: Annotated[str | None, typer.Option(help="A time like 2027-01-31T12:00:00Z.  [default: in 7 days]")] = None,
    as_json: AsJson = False,
) -> None:
    """Print a link that lets people join a space. New people choose a name."""
    found = await find_space(client, space)
    made = await client.create_invite(found["id"], role, expires, uses)
    print_result(made, as_json, made["url"])


@app.command()
@over_http
async def policy(
    client: MajlisClient,
    space: Space,
    rules: Annotated[
        list[str] | None, typer.Argument(metavar="TOOLS=ACTION", help="New rules, for example 'deploy*=ask'.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all rules.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show or set the tool policy of a space.

    Each rule sets allow, ask or deny for tools by name. The first rule that matches applies.
    """
    found = await find_space(client, space)
    if rules or clear:
        wanted: Any = [dict(zip(("tools", "do"), rule.rpartition("=")[::2], strict=True)) for rule in rules or ()]
        found = await client.change_space(found["id"], tool_policy=wanted or None)
    rows = [(rule["tools"], rule["do"]) for rule in found["toolPolicy"]]
    empty = f"Agents may use all their tools in {found['name']}."
    print_list(found["toolPolicy"], as_json, ("Tools", "Action"), rows, empty)


async def _require_new_name(client: MajlisClient, name: str, otherwise: str = "") -> None:
    """Two spaces may have the same name, but then every command needs the id."""
    for each in await client.list_spaces():
        if not each["direct"] and name_key(each["name"]) == name_key(name):
            message = f"You are already in a space named {each['name']} ({each['id']}). Choose another name"
            raise Conflict("space_exists", f"{message}{otherwise}.")


def _member(member: shapes.MemberJson) -> tuple[str, ...]:
    return member["id"], member["name"], member["type"], member["role"], local_time(member["joinedAt"])


def _preview(message: shapes.MessageJson | None) -> str:
    return "" if message is None else shorten(f"{message['sender']['name']}: {message['text']}", _PREVIEW)
