"""The tags, attributes and text of a page."""

from __future__ import annotations

from html.parser import HTMLParser

Tag = tuple[str, dict[str, str | None]]


class Markup(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.text = ""
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def files(self) -> list[str]:
        """All files that a browser fetches for the page."""
        wanted = {"script": "src", "img": "src", "link": "href"}
        return [str(attributes[wanted[tag]]) for tag, attributes in self.tags if tag in wanted]
