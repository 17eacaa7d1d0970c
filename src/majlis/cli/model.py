"""`majlis model`: connects models, over HTTP. A key comes from a prompt or from stdin, never from the command line."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from majlis.cli.command import AsJson, over_http
from majlis.cli.terminal import ask_hidden, note, print_json, print_line, print_list, print_result, safe_line
from majlis.errors import ConfigurationError, MajlisError, NotFound

if TYPE_CHECKING:
    from majlis.client import MajlisClient, shapes

app = typer.Typer(rich_markup_mode=None, help="Connect models of providers, or of servers of your own.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name from `majlis model list`.")]
Asked = Annotated[str, typer.Argument(metavar="MODEL", help="provider:model. A provider alone lists its models.")]


@app.command("list")
@over_http
async def list_(client: MajlisClient, as_json: AsJson = False) -> None:
    """List the connected models, and other models that agents use."""
    found = await client.list_models()
    connected = [(each["name"], "yes" if each["default"] else "", *_facts(each)) for each in found["models"]]
    rows = [*connected, *(("–", "", *_facts(each)) for each in found["others"])]
    if agents := found["demo"]["agents"]:
        rows.append(("–", "", f"demo ({found['demo']['model']})", "–", _names(agents)))
    empty = "No model is connected. Connect one with: majlis model add PROVIDER:MODEL"
    print_list(found, as_json, ("Name", "Default", "Model", "Key", "Agents"), rows, empty)


@app.command()
@over_http
async def providers(client: MajlisClient, as_json: AsJson = False) -> None:
    """List the providers, whether the server has their key, and what they need."""
    found = await client.list_model_providers()
    rows = [(each["name"], each["title"], _key_of(each), each["install"] or "") for each in found]
    print_list(found, as_json, ("Provider", "Title", "Key", "Needs"), rows, "There are no providers.")


@app.command()
@over_http
async def find(client: MajlisClient, as_json: AsJson = False) -> None:
    """Find model servers on the server's machine, at their usual ports."""
    found = await client.find_local_models()
    rows = [(f"{each['provider']}:{name}", each["baseUrl"]) for each in found for name in each["models"]]
    empty = "Found no Ollama, llama.cpp, LM Studio or vLLM. For another address, use majlis model add with --base-url."
    print_list(found, as_json, ("Model", "Address"), rows, empty)


@app.command()
@over_http
async def add(
    client: MajlisClient,
    model: Asked,
    name: Annotated[str | None, typer.Option(help="Name to store it under.  [default: the model's]")] = None,
    base_url: Annotated[str | None, typer.Option(help="URL of a server with a Chat Completions API.")] = None,
    secret: Annotated[str | None, typer.Option(metavar="NAME", help="Use the key of this stored secret.")] = None,
    api_key_env: Annotated[
        str | None, typer.Option(metavar="NAME", help="Environment variable on the server with the key.")
    ] = None,
    default: Annotated[
        bool | None, typer.Option("--default/--no-default", help="Make it the default of new agents.")
    ] = None,
    tried: Annotated[bool, typer.Option("--test/--no-test", help="Ask the model to say hello first.")] = True,
    as_json: AsJson = False,
) -> None:
    """Connect a model: ask for its key, test it, and store both.

    The key comes from a prompt, or from stdin: majlis model add openai:gpt-5.2 < key.txt. An empty one uses the key
    that the server has. Without a model, lists what the provider offers.
    """
    known = {each["name"]: each for each in await client.list_model_providers()}
    named, _, rest = model.partition(":")
    if base_url is not None and named not in known:
        named, rest = "openai", model
    if named not in known:
        hint = "List them with: majlis model providers"
        raise NotFound("unknown_provider", f"{named!r} is not a known provider. {hint}")
    provider = known[named]
    if provider["install"] and base_url is None:
        raise MajlisError(
            "package_missing",
            f"{provider['title']} needs a package that is not installed. {_install(provider['install'])}",
        )
    has_other = secret is not None or api_key_env is not None
    key = None if has_other else _read_key(provider, base_url)
    if not rest:
        await _print_offers(client, named, base_url, key, secret, as_json)
        return
    given = {"baseUrl": base_url, "apiKey": f"secret:{secret}" if secret else None, "apiKeyEnv": api_key_env}
    choice: Any = {"provider": named, "name": rest, **{name: value for name, value in given.items() if value}}
    if tried:
        _raise(await client.test_model(choice, key))
    label = name or _label(rest)
    saved = await client.connect_model(label, choice, key, default=default)
    [made] = [each for each in saved["models"] if each["name"] == label]
    if not as_json:
        note(f"Use it with: majlis agent set-model AGENT {label}, or majlis agent set-model --demo {label}")
    print_result(made, as_json, f"Connected {made['title']} as {label}.")


@app.command("test")
@over_http
async def try_(
    client: MajlisClient,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Name of a connected model, or provider:model.")],
    as_json: AsJson = False,
) -> None:
    """Ask a model to say hello. Exits with 1 if it does not answer."""
    found = await client.test_model(await connected_choice(client, model))
    if not as_json:
        _raise(found)
        tools = "" if found["callsTools"] else " It did not use the tool that it was offered."
        print_line(safe_line(f"It answered in {found['millis'] / 1000:.1f} s: {found['text']}{tools}"))
        print_line(size_in_words(found["context"]))
        return
    print_json(found)
    raise typer.Exit(1 if found["problem"] else 0)


@app.command()
@over_http
async def default(client: MajlisClient, name: Name, as_json: AsJson = False) -> None:
    """Make a connected model the default of new agents."""
    saved = await client.connect_model(name, await connected_choice(client, name, only=True), default=True)
    print_result(saved, as_json, f"New agents use {name}.")


@app.command()
@over_http
async def remove(client: MajlisClient, name: Name, as_json: AsJson = False) -> None:
    """Remove a connected model that no agent uses, and its key if nothing else uses it."""
    await client.remove_model(name)
    print_result({"name": name, "removed": True}, as_json, f"Removed {name}.")


async def connected_choice(client: MajlisClient, asked: str, only: bool = False) -> Any:
    """Returns the connected model with this name, or else the text."""
    for each in (await client.list_models())["models"]:
        if each["name"] == asked:
            return each["model"]
    if only or ":" not in asked:
        raise NotFound("unknown_model", f"No model is connected as {asked!r}. List them with: majlis model list")
    return asked


async def default_choice(client: MajlisClient) -> Any:
    """The model that new agents use; None for the server's own default."""
    return next((each["model"] for each in (await client.list_models())["models"] if each["default"]), None)


async def note_problem(client: MajlisClient, model: Any) -> None:
    """Warns on stderr if agents cannot use this model yet. The model generates nothing."""
    if model == "demo":
        return
    problem = (await client.test_model(model, ask=False))["problem"]
    if problem is not None:
        note(f"warning: {words_of(problem)} Connect it with: majlis model add PROVIDER:MODEL")


def words_of(problem: shapes.ProblemJson) -> str:
    """The problem, with the server's own words."""
    return f"{problem['message']} The server says: {problem['detail']}" if problem["detail"] else problem["message"]


def size_in_words(context: shapes.SizeJson | None) -> str:
    if context is None:
        return ""
    if context["source"] == "default":
        return f"Its server does not say how long a request may be, so Majlis assumes {context['tokens']:,} tokens."
    by = "its server" if context["source"] == "server" else "the table of known models"
    return f"A request may have {context['tokens']:,} tokens, says {by}."


def _raise(found: shapes.TestJson) -> None:
    if found["problem"] is not None:
        raise MajlisError(found["problem"]["code"], words_of(found["problem"]))


def _read_key(provider: shapes.ProviderJson, base_url: str | None) -> str | None:
    if provider["local"] and base_url is None:
        return None
    if not sys.stdin.isatty():
        return sys.stdin.read().strip() or None
    fallback = f"{provider['keyVariable']} of the server" if provider["keySet"] and base_url is None else "none"
    return ask_hidden(f"Key (empty: {fallback})") or None


async def _print_offers(
    client: MajlisClient, provider: str, base_url: str | None, key: str | None, secret: str | None, as_json: bool
) -> None:
    found = await client.look_for_models(provider, base_url, key, f"secret:{secret}" if secret else None)
    if found["problem"] is not None:
        raise MajlisError(found["problem"]["code"], words_of(found["problem"]))
    if as_json:
        print_json(found["models"])
        return
    for name in found["models"]:
        print_line(safe_line(f"{provider}:{name}"))
    note(f"Connect one with: majlis model add {provider}:MODEL")


def _install(command: str) -> str:
    return f"Run {command} where Majlis runs, then restart it."


def _facts(model: shapes.InUseJson) -> tuple[str, str, str]:
    key = model["key"]
    state = "–" if key["name"] is None else f"{key['name']}{'' if key['set'] else ' (not set)'}"
    return model["title"], f"needs {model['install']}" if model["install"] else state, _names(model["agents"])


def _key_of(provider: shapes.ProviderJson) -> str:
    return f"{provider['keyVariable']}{'' if provider['keySet'] else ' (not set)'}" if provider["keyVariable"] else "–"


def _names(agents: list[shapes.AgentNameJson]) -> str:
    return ", ".join(agent["name"] for agent in agents)


def _label(model: str) -> str:
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", model).lstrip("._-")[:64]
    if not label:
        raise ConfigurationError("Give the model a name with --name.")
    return label
