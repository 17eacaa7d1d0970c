"""`majlis webhook`: posts events of spaces to other programs, and lets other programs post, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.lookup import find_agent, find_space
from majlis.cli.terminal import local_time, print_list, print_result
from majlis.errors import NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Connect spaces with other programs, in both directions.")

Id = Annotated[str, typer.Argument(metavar="ID", help="ID of the webhook.")]
InSpace = Annotated[str | None, typer.Option(metavar="SPACE", help="Name or id of the space.")]

COLUMNS = ("ID", "Direction", "For", "URL", "State")
LOG_COLUMNS = ("ID", "Event", "State", "Attempts", "Result", "Queued")


@app.command()
@over_http
async def add(
    client: MajlisClient,
    receiver: Annotated[str, typer.Argument(metavar="URL", help="URL to send the events to.")],
    event: Annotated[list[str] | None, typer.Option(help="Type of event, or *; can be repeated.  [default: *]")] = None,
    space: InSpace = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="An outside agent that gets its events.")] = None,
    as_json: AsJson = False,
) -> None:
    """Send the events of a space, or of an outside agent, to a URL; without --space and --agent, of all your spaces.
    The secret is shown once."""
    space_id = (await find_space(client, space))["id"] if space else None
    agent_id = (await find_agent(client, agent))["id"] if agent else None
    made = await client.create_outgoing_webhook(receiver, event or ["*"], space_id, agent_id)
    print_result(made, as_json, f"Added {made['id']}. The secret, which is shown only now: {made['secret']}")


@app.command("add-incoming")
@over_http
async def add_incoming(
    client: MajlisClient,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name that it posts under.")],
    space: InSpace = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="The agent that it triggers or mentions.")] = None,
    scheme: Annotated[
        str, typer.Option(help="How requests are verified: github, stripe, standard, secret or none.")
    ] = "none",
    secret: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the stored secret.")] = None,
    template: Annotated[str | None, typer.Option(help="The text, with {{payload.field}}.")] = None,
    as_json: AsJson = False,
) -> None:
    """Create a URL that another program can post to."""
    space_id = (await find_space(client, space))["id"] if space else None
    agent_id = (await find_agent(client, agent))["id"] if agent else None
    made = await client.create_incoming_webhook(name, scheme, secret, space_id, agent_id, template)
    print_result(made, as_json, f"Added {made['id']}. Enter this URL in the other program: {made['url']}")


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List the webhooks that you may see."""
    sent = await client.list_outgoing_webhooks()
    posted = await client.list_incoming_webhooks() if (await client.me())["role"] != "member" else []
    rows = [
        (each["id"], "out", each["spaceId"] or each["agentId"] or "all spaces", each["url"], _state(each))
        for each in sent
    ]
    rows += [(each["id"], "in", each["spaceId"] or each["agentId"] or "", each["name"], "enabled") for each in posted]
    print_list({"outgoing": sent, "incoming": posted}, as_json, COLUMNS, rows, "No webhooks.")


@app.command()
@over_http
async def remove(client: MajlisClient, webhook_id: Id, as_json: AsJson = False) -> None:
    """Remove a webhook of either direction."""
    try:
        await client.delete_outgoing_webhook(webhook_id)
    except NotFound:
        await client.delete_incoming_webhook(webhook_id)
    print_result({"id": webhook_id, "removed": True}, as_json, f"Removed {webhook_id}.")


@app.command()
@over_http
async def deliveries(client: MajlisClient, webhook_id: Id, as_json: AsJson = False) -> None:
    """List what was sent to a URL, and what is in the queue, newest first."""
    found = await client.list_webhook_deliveries(webhook_id)
    print_list(found, as_json, LOG_COLUMNS, map(_row, found), "Nothing has been sent yet.")


@app.command()
@over_http
async def retry(
    client: MajlisClient,
    webhook_id: Id,
    delivery_id: Annotated[str, typer.Argument(metavar="DELIVERY", help="ID of the delivery.")],
    as_json: AsJson = False,
) -> None:
    """Send a delivery again, with the same id."""
    made = await client.retry_webhook_delivery(webhook_id, delivery_id)
    print_result(made, as_json, f"{made['id']} is in the queue.")


def _state(each: shapes.OutgoingWebhookJson) -> str:
    if each["disabledAt"] is not None:
        return f"disabled ({each['reason']})"
    return f"failing since {local_time(each['failingSince'])}" if each["failingSince"] else "enabled"


def _row(each: shapes.WebhookDeliveryJson) -> tuple[str, ...]:
    result = each["error"] or (str(each["status"]) if each["status"] is not None else "")
    return each["id"], each["type"], each["state"], str(each["attempts"]), result, local_time(each["createdAt"])
