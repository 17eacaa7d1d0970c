"""Links that let people join a space (G15)."""

from __future__ import annotations

import httpx

from tests.api.test_bad_input import assert_error
from tests.world import Person, World


def browser(world: World, person: Person | None = None) -> httpx.AsyncClient:
    client = httpx.AsyncClient(base_url=world.base_url, headers={"Origin": world.base_url}, timeout=60)
    if person is not None:
        client.headers["Authorization"] = f"Bearer {person.token}"
    return client


async def invite(person: Person, space: str, **body: object) -> str:
    """The path of the link."""
    made = await person.ok("POST", f"/api/spaces/{space}/invites", body)
    return "/invite/" + str(made["url"]).rsplit("/", 1)[1]


async def test_g15_a_new_person_chooses_a_name_and_is_signed_in(world: World) -> None:
    space = await world.owner.create_space("Garden")
    made = await world.owner.ok("POST", f"/api/spaces/{space}/invites", {"role": "viewer", "uses": 2})
    assert (made["spaceId"], made["role"], made["uses"], made["used"]) == (space, "viewer", 2, 0)
    path = "/invite/" + made["url"].rsplit("/", 1)[1]
    async with browser(world) as http:
        shown = await http.get(path)
        assert "Garden" in shown.text
        assert "Owner" in shown.text
        joined = await http.post(path, data={"name": "  Sara   Haddad "})
        assert (joined.status_code, joined.headers["location"]) == (303, f"/spaces/{space}")
        me = (await http.get("/api/me")).json()
        assert (me["name"], me["role"]) == ("Sara Haddad", "member")
        members = (await http.get(f"/api/spaces/{space}/members")).json()
        assert [(each["name"], each["role"]) for each in members] == [("Owner", "admin"), ("Sara Haddad", "viewer")]
    (left,) = await world.owner.ok("GET", f"/api/spaces/{space}/invites")
    assert left == {key: value for key, value in made.items() if key != "url"} | {"used": 1}


async def test_g15_a_person_who_is_signed_in_joins_with_their_account(world: World) -> None:
    sara = await world.person("Sara")
    space = await world.owner.create_space("Garden")
    path = await invite(world.owner, space, uses=2)
    async with browser(world, sara) as http:
        assert "signed in as <bdi>Sara</bdi>" in (await http.get(path)).text
        for _ in range(2):
            assert (await http.post(path)).status_code == 303
    assert [each["name"] for each in await world.owner.ok("GET", f"/api/spaces/{space}/members")] == ["Owner", "Sara"]
    # Joining again uses nothing up.
    assert [each["used"] for each in await world.owner.ok("GET", f"/api/spaces/{space}/invites")] == [1]


async def test_g15_a_name_that_is_taken_or_invalid_is_asked_for_again(world: World) -> None:
    path = await invite(world.owner, await world.owner.create_space())
    async with browser(world) as http:
        taken = await http.post(path, data={"name": "OWNER"})
        assert taken.status_code == 409
        assert "is taken" in taken.text
        assert 'value="OWNER"' in taken.text
        hostile = await http.post(path, data={"name": '"><script>alert(1)</script>'})
        assert hostile.status_code == 422
        assert "<script>alert" not in hostile.text
        assert (await http.post(path)).status_code == 422
        # None of these used it up.
        assert (await http.post(path, data={"name": "Sara"})).status_code == 303


async def test_g15_the_defaults_are_one_use_and_seven_days(world: World) -> None:
    space = await world.owner.create_space()
    made = await world.owner.ok("POST", f"/api/spaces/{space}/invites")
    assert (made["role"], made["uses"]) == ("member", 1)
    assert made["expiresAt"] > made["createdAt"]
    assert_error(
        await world.owner.post(f"/api/spaces/{space}/invites", {"expiresAt": "2020-01-01T00:00:00Z"}), 422, "expired"
    )
    for wrong in ({"uses": 0}, {"uses": 1001}, {"role": "owner"}, {"more": 1}):
        assert (await world.owner.post(f"/api/spaces/{space}/invites", wrong)).status_code == 422
