"""`majlis-client`: the Python client as a distribution of its own, without the server and its dependencies.

It has the same modules as `majlis`, so that a program runs with either. Only `majlis.client.shapes` differs: the
server's takes its types from the server's rooms, and this one contains them.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tools.client.flatten import flatten
from tools.steps import ROOT

SOURCE = ROOT / "src"
HERE = Path(__file__).parent
_MODULES = ("errors.py", "py.typed", "sse.py")
_INIT = '''"""The client of Majlis, a gateway where people and AI agents are equal members of shared spaces."""

__all__ = ["__version__"]
__version__ = "{version}"
'''


def stage(folder: Path) -> None:
    """Writes everything that the distribution is built from."""
    package = folder / "src" / "majlis"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_INIT.format(version=version()))
    for name in _MODULES:
        shutil.copyfile(SOURCE / "majlis" / name, package / name)
    (package / "client").mkdir()
    for path in sorted((SOURCE / "majlis" / "client").glob("*.py")):
        shutil.copyfile(path, package / "client" / path.name)
    (package / "client" / "shapes.py").write_text(flatten(SOURCE, "majlis.client.shapes"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copyfile(HERE / name, folder / name)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")


def version() -> str:
    text = (SOURCE / "majlis" / "__init__.py").read_text()
    return str(re.findall(r'__version__ = "(.+)"', text)[0])
