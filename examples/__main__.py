"""`python -m examples deploy_bot --model openai:gpt-5.2`: a gateway with one example in it, ready to talk to."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from examples.staging import Example, load, names, stage
from majlis.agents.config.config import parse_config
from majlis.client import MajlisClient
from majlis.entities.tokens import issue
from majlis.errors import ConfigurationError, MajlisError
from majlis.gateway import Gateway, open_gateway
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
    parser.add_argument(
        "--play", action="store_true", help="play it to its end with a scripted model and people, in a temporary folder"
    )
    parser.add_argument("--data-dir", type=Path, help="default: example-data/<example>")
    parser.add_argument("--port", type=int, default=0, help="default: a free one, so that it runs beside your server")
    given = parser.parse_args()
    if given.play:
        with tempfile.TemporaryDirectory(prefix="majlis-example-") as folder:
            # Tools and programs of the examples write below the current folder.
            os.chdir(folder)
            asyncio.run(_play(load(given.example), Path(folder)))
        return
    if not given.model:
        parser.error("--model is needed: these agents have to think. Without a model, watch the example with --play.")
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


async def _play(example: Example, folder: Path) -> None:
    from examples.play import Stage, play
    from examples.scripts import SCRIPTS
    from tests.model_server import ModelServer

    _, server, serving, base_url, token = await _start(example, folder, 0)
    try:
        async with ModelServer(SCRIPTS[example.name]) as model, MajlisClient(base_url, token) as client:
            await play(Stage(client, example, await stage(client, example, model.model), base_url))
    finally:
        server.stop()
        await serving


async def _start(example: Example, data_dir: Path, port: int) -> tuple[Gateway, Server, asyncio.Task[None], str, str]:
    settings = load_settings({"data_dir": data_dir, "port": port, "demo": False, **example.settings})
    set_up_logging(settings)
    listener = bind(settings)
    gateway = await open_gateway(settings)
    server = Server(gateway)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    _, token = await gateway.db.write(issue, gateway.hasher, gateway.owner_id, "api")
    return gateway, server, serving, address(settings, listener), token


async def _run(example: Example, model: str | Mapping[str, object], data_dir: Path, port: int) -> None:
    gateway, _, serving, base_url, token = await _start(example, data_dir, port)
    async with MajlisClient(base_url, token) as client:
        ids = await stage(client, example, model)
        links = {person: (await client.create_sign_in_link(ids[person]))["url"] for person in example.people}
    link = await gateway.sign_in_link(base_url)
    print(f"{example.about}\nSign in with {link}\nand say in {example.spaces[0]['name']}: {example.say}")  # noqa: T201
    for person, own in links.items():
        print(f"To answer as {person}, sign in from a private window with {own}")  # noqa: T201
    await serving


main()
