"""`python -m examples deploy_bot --model openai:gpt-5.2`: a gateway with one example in it, ready to talk to."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

from examples.staging import Example, load, names, stage
from majlis.agents.config.config import parse_config
from majlis.client import MajlisClient
from majlis.entities.tokens import issue
from majlis.errors import ConfigurationError, MajlisError
from majlis.gateway import open_gateway
from majlis.http_server import Server, address, bind
from majlis.logs import set_up_logging
from majlis.settings import load_settings


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples", description=__doc__)
    parser.add_argument("example", choices=names())
    parser.add_argument(
        "--model",
        default=os.environ.get("EXAMPLE_MODEL"),
        help='provider:name, or JSON such as {"provider": "openai", "name": "x", "baseUrl": "http://…/v1"}; '
        "also $EXAMPLE_MODEL",
    )
    parser.add_argument("--data-dir", type=Path, help="default: example-data/<example>")
    parser.add_argument("--port", type=int, default=8700)
    given = parser.parse_args()
    if not given.model:
        parser.error("--model is needed: these agents have to think. The demo model cannot.")
    try:
        model = _model(given.model)
        data_dir = given.data_dir or Path("example-data") / given.example
        asyncio.run(_run(load(given.example), model, data_dir, given.port))
    except MajlisError as error:
        parser.error(error.message)


def _model(text: str) -> str | Mapping[str, object]:
    """Looked at before anything is made."""
    try:
        model: str | Mapping[str, object] = json.loads(text) if text.startswith("{") else text
    except ValueError as error:
        raise ConfigurationError(f"--model is not JSON ({error}).") from None
    parse_config({"model": model})
    return model


async def _run(example: Example, model: str | Mapping[str, object], data_dir: Path, port: int) -> None:
    settings = load_settings({"data_dir": data_dir, "port": port, "demo": False, **example.settings})
    set_up_logging(settings)
    listener = bind(settings)
    gateway = await open_gateway(settings)
    base_url = address(settings, listener)
    serving = asyncio.create_task(Server(gateway).serve(sockets=[listener]))
    _, token = await gateway.db.write(issue, gateway.hasher, gateway.owner_id, "api")
    async with MajlisClient(base_url, token) as client:
        ids = await stage(client, example, model)
        links = {person: (await client.create_sign_in_link(ids[person]))["url"] for person in example.people}
    link = await gateway.sign_in_link(base_url)
    print(f"{example.about}\nSign in with {link}\nand say in {example.spaces[0]['name']}: {example.say}")  # noqa: T201
    for person, own in links.items():
        print(f"To answer as {person}, sign in from a private window with {own}")  # noqa: T201
    await serving


main()
