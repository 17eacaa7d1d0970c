"""D4: `majlis webhook` manages webhooks of both directions, over HTTP."""

from __future__ import annotations

import pytest

from majlis.settings import Settings
from tests.cli.command import Command
from tests.world import World

# These commands do not use the database; one engine behind the server is enough.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"tool_private_hosts": ["127.0.0.1:1"]})


async def test_d4_webhooks_of_both_directions(majlis: Command, world: World) -> None:
    space = await world.owner.create_space("Releases")
    url = "http://127.0.0.1:1/hook"
    made = (await majlis.ok("webhook", "add", url, "--space", "Releases", "--event", "space.message", "--json")).json
    assert (made["spaceId"], made["events"], made["secret"][:6]) == (space, ["space.message"], "whsec_")
    posted = (await majlis.ok("webhook", "add-incoming", "Builds", "--space", "Releases", "--json")).json
    listed = (await majlis.ok("webhook", "list", "--json")).json
    assert [each["id"] for each in listed["outgoing"] + listed["incoming"]] == [made["id"], posted["id"]]
    shown = (await majlis.ok("webhook", "list")).out
    assert made["secret"] not in shown
    assert (await majlis.ok("webhook", "deliveries", made["id"])).out == "Nothing has been sent yet.\n"
    assert "no delivery" in await majlis.line("webhook", "retry", made["id"], "whd_0000000000000000", code=1)
    for each in (made, posted):
        removed = await majlis.ok("webhook", "remove", each["id"], "--json")
        assert removed.json == {"id": each["id"], "removed": True}
    assert (await majlis.ok("webhook", "list")).out == "No webhooks.\n"
    assert "not allowed" in await majlis.line("webhook", "add", "http://127.0.0.1:2/", code=1)
