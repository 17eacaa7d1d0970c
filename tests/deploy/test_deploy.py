"""The files under deploy/ and the Dockerfile fit the program: its settings, options, paths and ports.

`make deploy-check` also runs the linters of their own formats.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from prometheus_client.parser import text_string_to_metric_families
from typer.core import TyperGroup

from majlis import metrics
from majlis.api.app import openapi_document
from majlis.cli.main import app
from majlis.settings import PREFIX, Settings, unknown_variables
from tests.docs.codes import ROOT
from tests.ports import free_port

DEPLOY = ROOT / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
FINAL = DOCKERFILE[DOCKERFILE.rindex("FROM ") :]
# Set for other programs: keys of model providers, and PostgreSQL's own.
_OTHERS = re.compile(r"[A-Z]+_API_KEY|POSTGRES_\w+|PGDATA|PYTHON\w+|PATH")


def kubernetes() -> list[dict[str, Any]]:
    files = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    return [each for file in files for each in yaml.safe_load_all(file.read_text("utf-8"))]


def pods() -> dict[str, dict[str, Any]]:
    found = [each for each in kubernetes() if each["kind"] in ("Deployment", "StatefulSet")]
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"] for each in found}


def image_environment() -> dict[str, str]:
    [block] = re.findall(r"^ENV (.*?[^\\])$", FINAL, re.MULTILINE | re.DOTALL)
    return dict(each.split("=", 1) for each in shlex.split(block.replace("\\\n", " ")))


def environment_files() -> dict[str, list[str]]:
    config = next(each for each in kubernetes() if each["kind"] == "ConfigMap")
    example = (DEPLOY / "kubernetes" / "secrets.env.example").read_text("utf-8")
    units = "".join(file.read_text("utf-8") for file in (DEPLOY / "systemd").glob("*.service"))
    return {
        "Dockerfile": list(image_environment()),
        "compose": list(COMPOSE["x-majlis"]["environment"]),
        "kubernetes settings": list(config["data"]),
        "kubernetes secrets": re.findall(r"^(\w+)=", example, re.MULTILINE),
        "systemd": re.findall(r"^Environment=(\w+)=", units, re.MULTILINE),
    }


@pytest.mark.parametrize("where", environment_files())
def test_every_variable_is_a_setting(where: str) -> None:
    names = [name for name in environment_files()[where] if not _OTHERS.fullmatch(name)]
    assert names
    assert unknown_variables(dict.fromkeys(names, "")) == []
    assert all(name.removeprefix(PREFIX).lower() in Settings.model_fields for name in names)


def test_every_command_and_option_exists() -> None:
    units = [file.read_text("utf-8") for file in (DEPLOY / "systemd").glob("*.service")]
    started = [shlex.split(line)[1:] for unit in units for line in re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)]
    started += [json.loads(each) for each in re.findall(r"^CMD (.*)$", FINAL, re.MULTILINE)]
    started += [each["command"] for each in COMPOSE["services"].values() if "command" in each]
    started += [pods()[name]["containers"][0]["args"] for name in ("majlis", "majlis-worker")]
    groups = typer.main.get_command(app)
    assert isinstance(groups, TyperGroup)
    for command, *options in started:
        found = groups.get_command(typer.Context(groups), command)
        assert found is not None
        known = {option for parameter in found.params for option in parameter.opts}
        assert set(options) <= known, (command, options)
    assert len(started) == 7


def test_probes_ask_for_paths_and_ports_that_exist() -> None:
    container = pods()["majlis"]["containers"][0]
    asked = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")}
    assert asked == {"startup": "/api/health/live", "readiness": "/api/health/ready", "liveness": "/api/health/live"}
    paths = openapi_document()["paths"]
    assert set(asked.values()) <= set(paths)
    assert container["ports"] == [{"name": "http", "containerPort": int(image_environment()["MAJLIS_PORT"])}]
    assert COMPOSE["services"]["server"]["ports"] == ["127.0.0.1:8700:8700"]
    assert re.findall(r"^EXPOSE (\d+)$", FINAL, re.MULTILINE) == ["8700"]


def test_every_container_of_majlis_runs_without_rights_on_a_read_only_file_system() -> None:
    assert re.findall(r"^USER (.*)$", FINAL, re.MULTILINE) == ["10001:10001"]
    assert FINAL.index("USER ") < FINAL.index("ENTRYPOINT ")
    for name in ("majlis", "majlis-worker", "nats"):
        pod, container = pods()[name], pods()[name]["containers"][0]
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001)
        context = container["securityContext"]
        assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
        assert context["capabilities"] == {"drop": ["ALL"]}
    shared = COMPOSE["x-majlis"]
    assert (shared["read_only"], shared["cap_drop"], shared["tmpfs"]) == (True, ["ALL"], ["/tmp"])
    for container in (pods()["majlis"], pods()["majlis-worker"]):
        mounts = {mount["mountPath"] for mount in container["containers"][0]["volumeMounts"]}
        assert mounts == {image_environment()["MAJLIS_DATA_DIR"], "/tmp"}


def test_images_are_named_without_a_host_and_with_a_version() -> None:
    images = re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    images += [each["image"] for each in COMPOSE["services"].values()]
    images += [container["image"] for pod in pods().values() for container in pod["containers"]]
    assert all(re.fullmatch(r"majlis|[a-z]+:\d[\w.-]*", image) for image in images), images


def test_the_image_is_built_from_files_that_exist_and_no_secret_gets_in() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert lines[1] == "*"
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert all((ROOT / name).exists() for name in kept)
    needed = {"pyproject.toml", "hatch_build.py", "requirements.lock", "requirements-dev.lock", "src", "tools", "web"}
    assert needed <= set(kept)


def test_the_image_s_command_starts_a_server_and_its_health_check_passes(tmp_path: Path) -> None:
    """As processes, with a folder in place of /data."""
    data, port = tmp_path / "data", str(free_port())
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    majlis = programs / "majlis"
    majlis.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m majlis "$@"\n')
    majlis.chmod(0o755)
    environment = image_environment() | {
        "MAJLIS_PORT": port,
        "MAJLIS_DATA_DIR": str(data),
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(tmp_path / "home"),
    }
    start = [*_exec_form("ENTRYPOINT"), *_exec_form("CMD")]
    serving = subprocess.Popen(start, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        assert serving.stdout.readline() == f"Majlis is running at http://127.0.0.1:{port}\n"
        [check] = re.findall(r"^HEALTHCHECK[^\n]*\n +CMD (.*)$", FINAL, re.MULTILINE)
        command = [sys.executable, *json.loads(check)[1:]]
        # The check of a container also repeats, while it starts.
        assert any(subprocess.run(command, env=environment).returncode == 0 for _ in range(20))
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate()
    assert serving.returncode == 0
    assert subprocess.run(command, env=environment, stderr=subprocess.DEVNULL).returncode == 1
    # It wrote to its data directory only.
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "data"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for file in (DEPLOY / "systemd").glob("majlis*.*"):
        text = file.read_text("utf-8").replace("/opt/majlis/bin/majlis", "/bin/true")
        (tmp_path / file.name).write_text(text)
    units = [str(path) for path in sorted(tmp_path.glob("*.service")) + sorted(tmp_path.glob("*.timer"))]
    ran = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, env=dict(os.environ))
    complaints = [line for line in ran.stderr.splitlines() if "majlis" in line]
    assert (ran.returncode, complaints) == (0, [])


def _exec_form(instruction: str) -> list[str]:
    [found] = re.findall(rf"^{instruction} (\[.*\])$", FINAL, re.MULTILINE)
    return [str(part) for part in json.loads(found)]


def test_every_metric_of_the_dashboard_exists_and_every_metric_is_on_it() -> None:
    """D7"""
    dashboard = (DEPLOY / "grafana" / "majlis.json").read_text("utf-8")
    exposed = {family.name: family.type for family in text_string_to_metric_families(metrics.render().decode())}
    series = {
        f"{name}{suffix}"
        for name, kind in exposed.items()
        if not name.endswith("_created")
        for suffix in {"counter": ("_total",), "histogram": ("_bucket",)}.get(kind, ("",))
    }
    assert set(re.findall(r"majlis_\w+", dashboard)) == series


def test_the_panels_of_the_dashboard_stand_side_by_side() -> None:
    places = set[tuple[int, int]]()
    for panel in json.loads((DEPLOY / "grafana" / "majlis.json").read_text("utf-8"))["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24, panel["title"]
        mine = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not places & mine, panel["title"]
        places |= mine
