"""Refuses to build a package without the web app, or with an old one. `make setup` builds the app.

An editable installation needs none: it serves the app once it is built. A source distribution contains the built app,
so that a wheel can be made from it without Node.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_ADVICE = "Run `make setup`, which builds it, and build the package again."


class WebApp(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        if not (root / "src/majlis/web_dist/index.html").is_file():
            sys.exit(f"The web app is not built, so this package would have none. {_ADVICE}")
        if (root / "web").is_dir() and not _is_current(root):
            sys.exit(f"The built web app is older than its sources. {_ADVICE}")


def _is_current(root: Path) -> bool:
    sys.path.insert(0, str(root))
    try:
        from tools import web

        return web.is_built()
    finally:
        sys.path.remove(str(root))
