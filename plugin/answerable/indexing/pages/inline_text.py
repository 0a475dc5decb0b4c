"""Collect a block's text: white space collapsed as in a browser, with spans of code and links."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urljoin

from ...serve.structure import Span, SpanKind, is_safe_url

_ORIGIN = "https://site.invalid"
_SPACE = re.compile(r"[ \t\r\n\f]+")


def collapse_space(text: str) -> str:
    """Collapse white space as HTML does."""
    return _SPACE.sub(" ", text)


@dataclass(slots=True)
class InlineText:
    """Collect a text piece by piece, and its spans; ``open_spans`` are (kind, url, start)."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    spans: list[Span] = field(default_factory=list)
    open_spans: list[tuple[SpanKind, str, int]] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Append text, its white space collapsed with what stands before it."""
        collapsed = collapse_space(text)
        if collapsed.startswith(" ") and (not self.parts or self.parts[-1][-1] in " \n"):
            collapsed = collapsed[1:]
        self._append(collapsed)

    def _append(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.length += len(text)

    def break_line(self) -> None:
        """Begin a new line, unless the first one is still empty."""
        if self.parts:
            last = self.parts.pop()
            self.length -= len(last)
            self._append(last.removesuffix(" ") + "\n")

    def begin_span(self, kind: SpanKind, url: str = "") -> None:
        """Open a span; one inside another of its kind becomes part of that."""
        self.open_spans.append((kind, url, self.length))

    def end_span(self) -> None:
        """Close the span that was opened last."""
        kind, url, start = self.open_spans.pop()
        if not any(kind == outer for outer, _, _ in self.open_spans):
            self.spans.append(Span(kind, start, self.length, url))

    def split(self) -> tuple[str, tuple[Span, ...], "InlineText"]:
        """Return the text so far with its spans, and an empty text with the same spans open."""
        following = InlineText()
        for kind, url, _ in self.open_spans:
            following.begin_span(kind, url)
        while self.open_spans:
            self.end_span()
        text = "".join(self.parts).rstrip()
        return text, trim_spans(self.spans, text), following


def trim_spans(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Trim white space off the ends of spans, drop empty ones, and sort them."""
    trimmed: list[Span] = []
    for span in spans:
        words = text[span.start : span.end]
        start = span.start + len(words) - len(words.lstrip())
        if words.strip():
            trimmed.append(span._replace(start=start, end=start + len(words.strip())))
    return tuple(sorted(trimmed, key=span_sort_key))


def span_sort_key(span: Span) -> tuple[int, int, str]:
    """Order spans by their starts, an outer one before what it holds."""
    return span.start, -span.end, span.kind


def shift_spans(spans: Iterable[Span], offset: int) -> list[Span]:
    """Move spans to where their text stands in a longer one."""
    return [s._replace(start=s.start + offset, end=s.end + offset) for s in spans]


def resolve_link(href: str, page_url: str) -> str:
    """Resolve a link against its page's url; "" for one that must not be followed.

    page_url: root-relative or absolute; "" if it is unknown, and with it every relative link.
    """
    try:
        # Without a host, `..` would lead above the root.
        url = urljoin(urljoin(_ORIGIN, page_url), href.strip())
    except ValueError:
        return ""
    if url.startswith(f"{_ORIGIN}/"):
        url = url.removeprefix(_ORIGIN) if page_url else ""
    return url if is_safe_url(url) else ""
