"""Settings from flags, environment and majlis.toml; an invalid value is refused with one clear line."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from majlis.errors import ConfigurationError
from majlis.server_key import load_server_key
from majlis.settings import Settings, load_settings, unknown_variables

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


@pytest.fixture
def toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "majlis.toml"


def test_flags_beat_environment_beats_file_beats_defaults(toml: Path) -> None:
    toml.write_text("port = 1001\nhost = '0.0.0.0'\nlog_level = 'debug'\n")
    settings = load_settings({"port": 1003}, {"MAJLIS_PORT": "1002", "MAJLIS_HOST": "127.0.0.2"})
    assert (settings.port, settings.host, settings.log_level) == (1003, "127.0.0.2", "debug")
    assert settings.events_kept_hours == 72


def test_lists_are_written_with_commas_in_the_environment(toml: Path) -> None:
    settings = load_settings({}, {"MAJLIS_ALLOWED_ORIGINS": "https://a.example, https://b.example"})
    assert settings.allowed_origins == ["https://a.example", "https://b.example"]


REFUSED: list[tuple[dict[str, Any], dict[str, str], str, str]] = [
    ({}, {}, "prot = 1", "unknown key prot. Did you mean port?"),
    ({}, {}, "frobnicate = true", "unknown key frobnicate"),
    ({}, {}, "port = [", "not valid TOML"),
    ({}, {}, "port = 'x'", "port in majlis.toml"),
    ({}, {}, "owner_token = 'x'", "MAJLIS_OWNER_TOKEN in the environment"),
    ({}, {}, "database_url = 'postgresql://u:secret@h/d'", "contains a secret in database_url"),
    ({}, {}, "bus_url = 'nats://u:secret@h:4222'", "MAJLIS_BUS_URL in the environment"),
    ({}, {}, "bus_url = 'nats://secret@h:4222'", "MAJLIS_BUS_URL in the environment"),
    ({}, {"MAJLIS_MODEL_PRICES": "{"}, "", "MAJLIS_MODEL_PRICES: "),
    ({}, {"MAJLIS_MODEL_PRICES": "[1]"}, "", "MAJLIS_MODEL_PRICES: "),
    ({}, {"MAJLIS_PORT": "70000"}, "", "MAJLIS_PORT: "),
    ({"port": -1}, {}, "", "--port: "),
    ({}, {"MAJLIS_OWNER_TOKEN": "short"}, "", "MAJLIS_OWNER_TOKEN: must have at least 24 characters"),
    ({}, {"MAJLIS_DATABASE_URL": "mysql://h/d"}, "", "mysql"),
    ({}, {"MAJLIS_DATABASE_URL": "::"}, "", "database URL"),
    ({}, {"MAJLIS_BUS_URL": "nats://h:4222"}, "", "contradict each other"),
    ({}, {"MAJLIS_BUS_URL": "http://h"}, "", "MAJLIS_BUS_URL: "),
    ({}, {"MAJLIS_LOG_LEVEL": "loud"}, "", "MAJLIS_LOG_LEVEL: "),
    ({}, {"MAJLIS_TOOL_HOSTS": "https://api.example.com"}, "", "is not a host; use api.example.com"),
    ({}, {"MAJLIS_TOOL_HOSTS": "*example.com"}, "", "is not a host"),
    ({}, {"MAJLIS_TOOL_PRIVATE_HOSTS": "*"}, "", "name each host"),
    ({}, {"MAJLIS_TOOL_PRIVATE_HOSTS": "*:8080"}, "", "name each host"),
    ({}, {"MAJLIS_TOOL_ENV": "SHOP_KEY,MAJLIS_SECRET_KEY"}, "", "give access to this gateway"),
    ({}, {"MAJLIS_CONFIG": "/nowhere/majlis.toml"}, "", "Cannot read"),
]


@pytest.mark.parametrize(("flags", "environment", "file", "message"), REFUSED)
def test_a_bad_setting_is_one_line_that_names_its_source(
    toml: Path, flags: dict[str, Any], environment: dict[str, str], file: str, message: str
) -> None:
    if file:
        toml.write_text(file)
    with pytest.raises(ConfigurationError) as refused:
        load_settings(flags, environment).embedded  # noqa: B018 - a database URL is read when it is first used
    assert message in refused.value.message
    assert "\n" not in refused.value.message
    assert "secret@" not in refused.value.message


def test_secrets_do_not_show_in_a_printed_settings_object(toml: Path) -> None:
    token = "a-token-that-nobody-may-see-0123"
    settings = load_settings({}, {"MAJLIS_OWNER_TOKEN": token})
    assert token not in repr(settings)
    assert token not in settings.model_dump_json()


def test_a_variable_with_a_typing_error_is_noticed() -> None:
    assert unknown_variables({"MAJLIS_PROT": "1", "MAJLIS_PORT": "1", "MAJLIS_TEST_X": "1", "PATH": ""}) == [
        "MAJLIS_PROT"
    ]


def test_every_option_is_documented_with_its_variable_default_and_meaning() -> None:
    rows = {
        match[1]: match[0]
        for match in re.finditer(r"^\| `(\w+)` \| `\w+` \|.*\|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    }
    assert rows.keys() == Settings.model_fields.keys()
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = f"`{default}` " if default not in (None, "", []) else ""
        expected = f"| `{name}` | `MAJLIS_{name.upper()}` | {shown}| {field.description} |"
        assert rows[name] == expected


def test_the_servers_key_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "new")
    key = load_server_key(settings)
    assert len(key) >= 32
    assert load_server_key(settings) == key
    assert (tmp_path / "new" / "server.key").stat().st_mode & 0o777 == 0o600


def test_processes_that_start_at_once_agree_on_the_key(tmp_path: Path) -> None:
    """The second process used to read the file before it was written, and called it damaged."""
    with ThreadPoolExecutor(8) as pool:
        for n in range(40):
            settings = Settings(data_dir=tmp_path / str(n))
            assert len(set(pool.map(lambda _, s=settings: load_server_key(s), range(8)))) == 1
            assert [file.name for file in settings.data_dir.iterdir()] == ["server.key"]


@pytest.mark.usefixtures("toml")
def test_a_short_or_damaged_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="at least 32"):
        load_server_key(load_settings({"data_dir": tmp_path}, {"MAJLIS_SECRET_KEY": "short"}))
    (tmp_path / "server.key").write_text("oops")
    with pytest.raises(ConfigurationError, match="damaged"):
        load_server_key(Settings(data_dir=tmp_path))
