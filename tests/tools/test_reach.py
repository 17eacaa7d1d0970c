"""J4: a corpus of attacks. No tool reaches a host that the settings do not allow, by any URL, name or redirect."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from majlis.errors import MajlisError
from majlis.hosts import parse_target
from majlis.tools.reach.exchange import Exchange, Outgoing, usual_tls
from majlis.tools.reach.reach import Reach, Resolve, place_of
from tests.tools.web_server import Web, answer, serve_web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with serve_web() as served:
        yield served


def resolving(**names: list[str]) -> Resolve:
    """A name server that gives its answers one after the other, then repeats the last."""
    left = {name.replace("_", "."): list(found) for name, found in names.items()}

    async def resolve(host: str, port: int) -> list[str]:
        answers = left.get(host, [])
        said = answers.pop(0) if len(answers) > 1 else "".join(answers)
        return [each for each in said.split(",") if each]

    return resolve


async def reached(reach: Reach, url: str) -> list[str]:
    return await reach.addresses(parse_target(url))


async def refused(reach: Reach, url: str) -> str:
    with pytest.raises(MajlisError) as error:
        await reached(reach, url)
    return error.value.code


BAD_URLS = [
    # Addresses that some parsers read as names.
    *("http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/", "http://127.1/"),
    *("http://127.0.1/", "http://0/", "http://00000177.0.0.1/", "http://127.0.0.1.:80/", "http://127.0.0.256/"),
    *("http://1.2.3.4.5/", "http://0x7f.1/", "http://127.0.0.0x1/", "http://a.127.1/", "http://0300.0250.1/"),
    *(
        "http://①②⑦.⓪.⓪.①/",
        "http://１２７.0.0.1/",
        "http://127。0。0。1/",
        "http://[::ffff:127.0.0.1/",
        "http://[::1%25lo]/",
    ),
    *("http://[fe80::1%eth0]/", "http://[::g]/", "http://[127.0.0.1]/", "http://[v1.x]/", "http://%31%32%37.0.0.1/"),
    # User names and passwords, and characters where parsers disagree about the end of the host.
    *("http://api.example.com@127.0.0.1/", "http://user:pass@api.example.com/", "http://api.example.com:80@evil.test/"),
    *("http://evil.test\\@api.example.com/", "http://api.example.com\\.evil.test/", "http:\\\\api.example.com/"),
    *("http://api.example.com\t.evil.test/", "http://api.example.com\n/", "http://api.example.com /", "http:// api/"),
    *("http:///api.example.com/", "http:api.example.com", "//api.example.com/", "http://", "http://:80/", "http://?x"),
    # Look-alikes and dots.
    *("http://api.example.com./", "http://api..example.com/", "http://.example.com/", "http://аpi.example.com/"),
    *("http://ａpi.example.com/", "http://api。example.com/", "http://-a.example.com/", "http://a b.example.com/"),
    *("http://api.example.com:99999/", "http://api.example.com:x/", "http://api.example.com:-1/", "http://*/"),
    # Other schemes than HTTP.
    *("file:///etc/passwd", "file://localhost/etc/passwd", "ftp://api.example.com/", "gopher://127.0.0.1:6379/_x"),
    *(
        "dict://127.0.0.1:11211/",
        "ldap://api.example.com/",
        "data:text/plain,x",
        "javascript:alert(1)",
        "jar:http://x!/",
    ),
    *("unix:/run/x.sock", "ws://api.example.com/", "httpss://api.example.com/", ""),
]


@pytest.mark.parametrize("url", BAD_URLS)
def test_an_ambiguous_address_is_refused(url: str) -> None:
    with pytest.raises(MajlisError) as error:
        parse_target(url)
    assert error.value.code == "bad_url"


def test_plain_addresses_are_read_as_they_are_written() -> None:
    read = parse_target("HTTPS://API.Example.com:8443/a%20b/ü?q=ä&x=[1]#part")
    assert (read.scheme, read.host, read.port) == ("https", "api.example.com", 8443)
    assert read.path == "/a%20b/%C3%BC?q=%C3%A4&x=%5B1%5D"
    assert parse_target("http://[2606:4700::1111]").authority == "[2606:4700::1111]"
    assert parse_target("http://xn--mnchen-3ya.example:80").authority == "xn--mnchen-3ya.example"


INNER = ["127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1", "::1",
         "fc00::1", "fd00:ec2::254"]  # fmt: skip
NOWHERE = [
    *("0.0.0.0", "0.1.2.3", "169.254.169.254", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.9"),
    *("224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1"),
    *("::", "fe80::1", "fec0::1", "ff02::1", "2001:db8::1", "100::1", "3fff::1", "5f00::1"),
    # Others inside: mapped, compatible, translated, NAT64 (both), 6to4, Teredo, ISATAP on a link.
    *(
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::7f00:1",
    ),
    *("2002:7f00:1::", "2001:0:4136:e378::", "fe80::5efe:7f00:1", "fe80::1%1"),
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "2a00:1450:4001:80b::200e"]


@pytest.mark.parametrize(("addresses", "place"), [(INNER, "inner"), (NOWHERE, "nowhere"), (PUBLIC, "public")])
def test_every_address_is_public_or_inner_or_nowhere(addresses: list[str], place: str) -> None:
    assert {address: place_of(address) for address in addresses} == dict.fromkeys(addresses, place)


@pytest.mark.parametrize("address", [*INNER, *NOWHERE])
async def test_a_name_or_a_literal_with_such_an_address_is_not_reached(address: str) -> None:
    reach = Reach(hosts=["*"], resolve=resolving(nice_example=[address], mixed_example=[f"8.8.8.8,{address}"]))
    assert await refused(reach, "http://nice.example/") == "address_not_allowed"
    assert await refused(reach, "http://mixed.example/") == "address_not_allowed"
    literal = f"[{address}]" if ":" in address else address
    if "%" not in address:
        assert await refused(reach, f"http://{literal}/") == "address_not_allowed"


@pytest.mark.parametrize("address", [each for each in NOWHERE if "%" not in each])
async def test_nowhere_is_not_reached_even_by_a_host_that_may_be_private(address: str) -> None:
    """The cloud's metadata service, above all."""
    reach = Reach(private_hosts=["inside.example"], resolve=resolving(inside_example=[address]))
    assert await refused(reach, "http://inside.example/") == "address_not_allowed"


RULES: list[tuple[str, str, bool]] = [
    ("api.example.com", "http://api.example.com/", True),
    ("api.example.com", "https://API.example.com/", True),
    ("api.example.com", "https://api.example.com:8443/", False),
    ("api.example.com:8443", "https://api.example.com:8443/", True),
    ("api.example.com:8443", "https://api.example.com/", False),
    ("api.example.com", "http://www.api.example.com/", False),
    ("api.example.com", "http://api.example.com.evil.test/", False),
    ("api.example.com", "http://xapi.example.com/", False),
    ("*.example.com", "http://a.b.example.com/", True),
    ("*.example.com", "http://example.com/", False),
    ("*.example.com", "http://evilexample.com/", False),
    ("*", "http://anything.test/", True),
    ("*", "http://anything.test:22/", False),
]


@pytest.mark.parametrize(("rule", "url", "allowed"), RULES)
async def test_only_hosts_and_ports_that_the_settings_name(rule: str, url: str, allowed: bool) -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["8.8.8.8"]

    reach = Reach(hosts=[rule], resolve=resolve)
    if allowed:
        assert await reached(reach, url) == ["8.8.8.8"]
    else:
        assert await refused(reach, url) == "host_not_allowed"


async def test_tools_reach_nothing_without_settings() -> None:
    assert await refused(Reach(), "https://api.example.com/") == "host_not_allowed"
    assert await refused(Reach(hosts=["localhost"]), "http://localhost/") == "address_not_allowed"
    assert await refused(Reach(hosts=["*"], resolve=resolving()), "http://gone.example/") == "unknown_host"


def get(url: str, **more: Any) -> Outgoing:
    return replace(
        Outgoing("GET", parse_target(url), {"authorization": "Bearer secret", "idempotency-key": "k"}, None), **more
    )


async def test_a_name_that_means_another_machine_a_moment_later_gains_nothing(web: Web) -> None:
    """DNS rebinding: a name is resolved once per request, and the connection goes to the checked address."""
    async with serve_web("127.0.0.2", web.port) as other:
        host = f"sly.example:{web.port}"
        reach = Reach(private_hosts=[host], resolve=resolving(sly_example=["127.0.0.1", "127.0.0.2"]))
        assert (await Exchange(reach).send(get(f"http://{host}/"), 1000)).status == 200
        assert (len(web.asked), len(other.asked)) == (1, 0)
        assert web.asked[0].headers["host"] == host


async def test_a_name_is_checked_at_each_request_even_if_it_was_public_before(web: Web) -> None:
    host = f"sly.example:{web.port}"
    reach = Reach(hosts=[host], resolve=resolving(sly_example=["127.0.0.1"]))
    with pytest.raises(MajlisError, match="private address"):
        await Exchange(reach).send(get(f"http://{host}/"), 1000)
    assert not web.asked


def redirect(to: str, status: int = 302) -> bytes:
    return answer(b"", status, Location=to)


async def test_redirects_are_followed_on_the_same_host_with_everything(web: Web) -> None:
    web.answers = lambda asked: redirect("/b?x=1", 307) if asked.path == "/a" else answer("{}")
    reach = Reach(private_hosts=[f"127.0.0.1:{web.port}"])
    await Exchange(reach).send(get(f"{web.base}/a", method="POST", content=b"data"), 1000)
    assert [(asked.method, asked.path, asked.body) for asked in web.asked] == [
        ("POST", "/a", b"data"),
        ("POST", "/b?x=1", b"data"),
    ]
    assert all(asked.headers["authorization"] == "Bearer secret" for asked in web.asked)


async def test_another_host_gets_no_header_and_no_body(web: Web) -> None:
    """Keys are for the first host only, and a request with a body is not redirected at all."""
    async with serve_web() as other:
        web.answers = lambda asked: redirect(f"{other.base}/there", 307)
        exchange = Exchange(Reach(private_hosts=[f"127.0.0.1:{web.port}", f"127.0.0.1:{other.port}"]))
        assert (await exchange.send(get(f"{web.base}/"), 1000)).status == 200
        assert {"authorization", "idempotency-key"}.isdisjoint(other.asked[0].headers)
        with pytest.raises(MajlisError, match="not sent to another host"):
            await exchange.send(get(f"{web.base}/", method="POST", content=b"data"), 1000)
        assert len(other.asked) == 1


async def test_after_a_see_other_the_rest_is_only_read(web: Web) -> None:
    web.answers = lambda asked: redirect("/done", 303) if asked.path == "/" else answer("{}")
    await Exchange(Reach(private_hosts=[f"127.0.0.1:{web.port}"])).send(
        get(web.base, method="POST", content=b"x"), 1000
    )
    assert [(asked.method, asked.body) for asked in web.asked] == [("POST", b"x"), ("GET", b"")]


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data/", "http://127.0.0.2/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
        "http://2130706433/", "http://localhost/", "//localhost/", "file:///etc/passwd", "ftp://127.0.0.1/",
        "gopher://127.0.0.1:6379/_FLUSHALL", "http://user@127.0.0.1/", "http://sly.example/", "http://[", "\\\\evil\\",
    ],
)  # fmt: skip
async def test_a_redirect_leads_to_no_other_place_than_a_request_would(web: Web, to: str) -> None:
    web.answers = lambda asked: redirect(to)
    host = f"start.example:{web.port}"
    names = resolving(start_example=["127.0.0.1"], localhost=["127.0.0.1"], sly_example=["10.0.0.1"])
    exchange = Exchange(Reach(hosts=["*"], private_hosts=[host], resolve=names))
    if to.startswith("\\"):
        # A path on the same host, although some browsers read it differently.
        assert (await exchange_ends(exchange, f"http://{host}/")) in ("bad_redirect", "too_many_redirects")
    else:
        assert (await exchange_ends(exchange, f"http://{host}/")) in ("address_not_allowed", "bad_redirect")
        assert len(web.asked) == 1


async def exchange_ends(exchange: Exchange, url: str) -> str:
    with pytest.raises(MajlisError) as error:
        await exchange.send(get(url), 1000)
    return error.value.code


async def test_redirects_end(web: Web) -> None:
    web.answers = lambda asked: redirect("/again")
    exchange = Exchange(Reach(private_hosts=[f"127.0.0.1:{web.port}"]))
    assert await exchange_ends(exchange, web.base) == "too_many_redirects"
    assert len(web.asked) == 6


def certificate(folder: Path, name: str) -> tuple[Path, ssl.SSLContext]:
    """A self-signed certificate for the host `name`."""
    key = ec.generate_private_key(ec.SECP256R1())
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder(
            who, who, key.public_key(), x509.random_serial_number(), now, now.replace(year=now.year + 1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(serialization.Encoding.PEM, *plain)
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file)
    return file, tls


async def test_the_certificate_is_checked_against_the_name_though_the_connection_goes_to_an_address(
    tmp_path: Path,
) -> None:
    file, tls = certificate(tmp_path, "good.example")
    trusting = ssl.create_default_context(cafile=file)
    async with serve_web(tls=tls) as web:
        good, other = f"good.example:{web.port}", f"other.example:{web.port}"
        names = resolving(good_example=["127.0.0.1"], other_example=["127.0.0.1"])
        reach = Reach(private_hosts=[good, other], resolve=names)
        exchange = Exchange(reach, lambda: trusting)
        assert (await exchange.send(get(f"https://{good}/"), 1000)).status == 200
        assert await exchange_ends(exchange, f"https://{other}/") == "unreachable"
        assert await exchange_ends(Exchange(reach, usual_tls), f"https://{good}/") == "unreachable"
        assert len(web.asked) == 1


async def test_a_redirect_from_https_to_http_is_not_followed(tmp_path: Path) -> None:
    file, tls = certificate(tmp_path, "good.example")
    trusting = ssl.create_default_context(cafile=file)

    async with serve_web(tls=tls) as served:
        host = f"good.example:{served.port}"
        served.answers = lambda asked: redirect(f"http://{host}/")
        reach = Reach(private_hosts=[host], resolve=resolving(good_example=["127.0.0.1"]))
        assert await exchange_ends(Exchange(reach, lambda: trusting), f"https://{host}/") == "bad_redirect"


async def test_the_next_address_is_tried_when_one_does_not_answer(web: Web) -> None:
    host = f"two.example:{web.port}"
    reach = Reach(private_hosts=[host], resolve=resolving(two_example=["127.0.0.9,127.0.0.1"]))
    assert (await Exchange(reach).send(get(f"http://{host}/"), 1000)).status == 200
