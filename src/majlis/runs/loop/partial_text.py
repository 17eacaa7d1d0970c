"""The text of `send_message` while the model is still writing its JSON: read character by character, decoded at once.

Only the value of the outermost key `text` comes out; whatever else is in the object, and however it is nested or
escaped, stays inside. What is not valid JSON yields nothing more: the finished call is parsed by a real parser.
"""

from __future__ import annotations

from collections.abc import Callable

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class PartialText:
    def __init__(self, key: str = "text") -> None:
        self._key = key
        self._depth = 0
        self._expects_key = False
        self._last_key = ""
        self._out: list[str] = []
        self._string = ""
        self._high = 0
        self._hex = ""
        self._read: Callable[[str], None] = self._between

    def feed(self, piece: str) -> str:
        """What this piece adds to the text."""
        for character in piece:
            self._read(character)
        added, self._out = "".join(self._out), []
        return added

    def _between(self, character: str) -> None:
        match character:
            case '"':
                self._string = ""
                self._read = self._inside
            case "{" | "[":
                self._depth += 1
                self._expects_key = character == "{"
            case "}" | "]":
                self._depth -= 1
                self._expects_key = False
            case ",":
                self._expects_key = self._depth == 1
            case ":":
                self._expects_key = False

    def _inside(self, character: str) -> None:
        match character:
            case "\\":
                self._read = self._escaped
            case '"':
                self._end()
            case _:
                self._take(character)

    def _escaped(self, character: str) -> None:
        if character == "u":
            self._hex = ""
            self._read = self._unicode
        else:
            self._read = self._inside
            self._take(_ESCAPES.get(character, ""))

    def _unicode(self, character: str) -> None:
        self._hex += character
        if len(self._hex) < 4:
            return
        self._read = self._inside
        try:
            code = int(self._hex, 16)
        except ValueError:
            return
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            # Half a pair is nothing that a client could show.
            pair = chr(0x10000 + ((self._high - 0xD800) << 10) + (code - 0xDC00)) if self._high else ""
            self._high = 0
            self._take(pair)
        else:
            self._take(chr(code))

    def _take(self, text: str) -> None:
        if self._is_value():
            self._out.append(text)
        elif self._expects_key and self._depth == 1:
            self._string += text

    def _is_value(self) -> bool:
        return self._depth == 1 and not self._expects_key and self._last_key == self._key

    def _end(self) -> None:
        if self._expects_key and self._depth == 1:
            self._last_key = self._string
        elif self._depth == 1:
            self._last_key = ""
        self._read = self._between
