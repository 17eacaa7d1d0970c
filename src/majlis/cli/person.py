"""`majlis person`: the people of the gateway, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urljoin

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import all_people, find_entity
from majlis.cli.terminal import local_time, note, print_list, print_result
from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Manage people.")

Person = Annotated[str, typer.Argument(metavar="NAME", help="Name or id of the person.")]


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List all people."""
    found = await all_people(client)
    rows = [(each["id"], each["name"], each["role"], each["externalId"] or "") for each in found]
    print_list(found, as_json, ("ID", "Name", "Role", "External id"), rows, "There are no people.")


@app.command()
@over_http
async def add(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new person.")],
    role: Annotated[
        Literal["member", "admin"], typer.Option(help="Admins manage agents, people and secrets.")
    ] = "member",
    external_id: Annotated[str | None, typer.Option(help="Subject or email address at your OpenID provider.")] = None,
    as_json: AsJson = False,
) -> None:
    """Add a person. Then send them a sign-in link with `majlis person invite`."""
    made = await client.create_entity("human", name, external_id, role)
    if not as_json:
        note(f"Send a sign-in link: majlis person invite {made['name']!r}")
    print_result(made, as_json, f"Added {made['name']} ({made['id']}).")


@app.command()
@over_http
async def invite(client: MajlisClient, name: Person, as_json: AsJson = False) -> None:
    """Print a link that signs this person in once, within an hour."""
    person = await _find(client, name)
    link = await client.create_sign_in_link(person["id"])
    url = urljoin(client.url, link["url"])
    if not as_json:
        note(f"Sign-in link for {person['name']}, valid once until {local_time(link['expiresAt'])}:")
    print_result({**link, "url": url}, as_json, url)


@app.command()
@over_http
async def remove(client: MajlisClient, name: Person, as_json: AsJson = False) -> None:
    """Remove a person and end their access. Their messages stay."""
    person = await _find(client, name)
    await client.delete_entity(person["id"])
    print_result({"id": person["id"], "removed": True}, as_json, f"Removed {person['name']}.")


async def _find(client: MajlisClient, name: str) -> shapes.EntityJson:
    found = await find_entity(client, name)
    if found["type"] != "human":
        hint = "Use majlis agent." if found["type"] == "agent" else "Manage services in the app."
        raise NotFound("unknown_person", f"{found['name']} is {_a(found['type'])}, not a person. {hint}")
    return found


def _a(kind: str) -> str:
    return "an agent" if kind == "agent" else f"a {kind}"
