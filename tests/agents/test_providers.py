"""The table of providers says the same as the installed pydantic-ai."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic_ai import exceptions, models, providers
from pydantic_ai.providers import gateway, infer_provider_class

from majlis.model_providers import PROVIDERS, missing_package

# Only for its speech service.
_OTHER_KEYS = {"AZURE_VOICELIVE_API_KEY"}


def _names() -> set[str]:
    """The provider names that pydantic-ai accepts."""
    tree = ast.parse(inspect.getsource(infer_provider_class))
    patterns = [node.pattern for node in ast.walk(tree) if isinstance(node, ast.match_case)]
    constants = [node.value for pattern in patterns for node in ast.walk(pattern) if isinstance(node, ast.Constant)]
    upstream = [name for union in get_args(gateway.UpstreamProvider) for name in get_args(union)]
    return {str(name) for name in constants} | {f"gateway/{name}" for name in upstream}


def _is_for_chat(name: str) -> bool:
    """Some providers only have speech or embeddings."""
    try:
        models.infer_model(f"{name}:m", lambda _name: _no_provider())
    except exceptions.UserError as error:
        return not str(error).startswith("Unknown model")
    except Exception:
        return True
    return True


def _no_provider() -> Any:
    return object()


def test_the_table_names_the_providers_that_the_library_knows() -> None:
    assert set(PROVIDERS) == {name for name in _names() if _is_for_chat(name)}


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_keys_are_those_that_the_library_reads(name: str) -> None:
    source = _source(name)
    read = set(re.findall(r"'([A-Z][A-Z_]+_(?:KEY|TOKEN|BEDROCK))'", source))
    assert set(PROVIDERS[name].keys) == read - _OTHER_KEYS


def _source(name: str) -> str:
    module = "gateway" if name.startswith("gateway/") else _module(name)
    return (Path(inspect.getfile(providers)).parent / f"{module}.py").read_text()


def _module(name: str) -> str:
    found = re.search(rf"case [^\n]*'{name}'[^\n]*:\n\s+from \.(\w+) import", inspect.getsource(infer_provider_class))
    assert found
    return found[1]


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_package_is_missing_where_the_library_misses_it(name: str) -> None:
    command, complaint = missing_package(name), ""
    try:
        infer_provider_class(name)
    except ImportError as error:
        complaint = str(error).replace("'", '"')
    assert bool(command) == bool(complaint)
    assert re.sub(r"==[\d.]+", "", command or "") in complaint
