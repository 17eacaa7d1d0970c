"""Makes one module of types out of a module that imports them from many: each definition is copied, and so is what it
refers to. The definitions must be typed dictionaries or aliases; anything else would need the server."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PACKAGE = "majlis"
_HEAD = '''"""The types of everything that the SDK takes and returns."""

from __future__ import annotations

'''


class NotAType(Exception):
    pass


@dataclass
class _Module:
    """Its top-level definitions as source, and where imported names come from."""

    definitions: dict[str, tuple[ast.stmt, str]]
    imported: dict[str, tuple[str, str]]

    @classmethod
    def read(cls, path: Path) -> _Module:
        source = path.read_text("utf-8")
        definitions: dict[str, tuple[ast.stmt, str]] = {}
        imported: dict[str, tuple[str, str]] = {}
        for statement in ast.parse(source).body:
            for each in _without_guard(statement):
                if isinstance(each, ast.ImportFrom) and each.module:
                    imported |= {alias.asname or alias.name: (each.module, alias.name) for alias in each.names}
                elif (name := _defined(each)) is not None:
                    definitions[name] = each, ast.get_source_segment(source, each) or ""
        return cls(definitions, imported)


Place = tuple[str, str]


@dataclass
class _Flattened:
    root: Path
    # By module and name: the definition, and its name here.
    parts: dict[Place, str] = field(default_factory=dict)
    names: dict[Place, str] = field(default_factory=dict)
    library: dict[str, set[str]] = field(default_factory=dict)
    modules: dict[str, _Module] = field(default_factory=dict)

    def place(self, module: str, name: str) -> Place | None:
        """Where it is defined. None for a builtin, the name of a field, and what a library defines."""
        found = self.module(module)
        first, _, rest = name.partition(".")
        if first not in found.imported:
            return (module, first) if first in found.definitions else None
        source, original = found.imported[first]
        if rest:
            return self.place(f"{source}.{original}", rest) if source.partition(".")[0] == _PACKAGE else None
        if source.partition(".")[0] == _PACKAGE:
            return self.place(source, original)
        self.library.setdefault(source, set()).add(original)
        return None

    def reserve(self, place: Place, name: str) -> None:
        """Two definitions of the same name get different ones."""
        while name in self.names.values():
            name += "_"
        self.names.setdefault(place, name)

    def add(self, place: Place) -> None:
        if place in self.parts:
            return
        if place not in self.names:
            self.reserve(place, place[1])
        statement, source = self.module(place[0]).definitions[place[1]]
        if isinstance(statement, ast.ClassDef) and not _is_typed_dict(statement):
            raise NotAType(f"{'.'.join(place)} is not a typed dictionary")
        # Its place is after what it refers to; the entry is made first, since types may refer to each other.
        self.parts[place] = ""
        for used in dict.fromkeys(_names(statement)):
            if (found := self.place(place[0], used)) is not None:
                self.add(found)
                source = _renamed(source, used, self.names[found])
        del self.parts[place]
        self.parts[place] = _renamed(source, place[1], self.names[place])

    def module(self, name: str) -> _Module:
        if name not in self.modules:
            path = self.root.joinpath(*name.split("."))
            self.modules[name] = _Module.read(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
        return self.modules[name]


def flatten(root: Path, module: str) -> str:
    """The source of the module, which imports only the standard library and typing_extensions."""
    flat = _Flattened(root)
    start = flat.module(module)
    public = [name for name, (source, _) in start.imported.items() if source.partition(".")[0] == _PACKAGE]
    places = {name: place for name in (*public, *start.definitions) if (place := flat.place(module, name)) is not None}
    for name, place in places.items():
        flat.reserve(place, name)
    for place in places.values():
        flat.add(place)
    imports = [f"from {source} import {', '.join(sorted(names))}\n" for source, names in sorted(flat.library.items())]
    return _HEAD + "".join(imports) + "\n" + "\n\n".join(flat.parts.values()) + "\n"


def _renamed(source: str, name: str, new: str) -> str:
    return source if name == new else re.sub(rf"\b{re.escape(name)}\b", new, source)


def _without_guard(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Also what is imported for annotations only."""
    if isinstance(statement, ast.If) and isinstance(statement.test, ast.Name) and statement.test.id == "TYPE_CHECKING":
        yield from statement.body
    else:
        yield statement


def _defined(statement: ast.stmt) -> str | None:
    match statement:
        case ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def _is_typed_dict(statement: ast.ClassDef) -> bool:
    return bool(statement.bases) and all(
        isinstance(base, ast.Name) and (base.id == "TypedDict" or base.id.endswith("Json") or base.id.startswith("_"))
        for base in statement.bases
    )


def _names(statement: ast.stmt) -> Iterator[str]:
    """Also `module.Name`."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
