"""Spans and durations with the names of OpenTelemetry's GenAI conventions (D7).

Until `tracing` calls `listen`, nothing of OpenTelemetry is imported. Texts of messages, models and tools are recorded
only if `listen` was asked to.
"""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import orjson

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram, Meter
    from opentelemetry.trace import Span as OtelSpan
    from opentelemetry.trace import Tracer

Attributes = Mapping[str, Any]
Kind = Literal["internal", "client", "server"]

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_RUN_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)
_TOKENS = tuple(4**power for power in range(14))
_MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model")
_SERVER = ("server.address", "server.port")
# The duration metric of each operation, and the attributes of its span that it is labelled with.
_DURATIONS = {
    "chat": ("gen_ai.client.operation.duration", (*_MODEL, *_SERVER), _SECONDS),
    "execute_tool": ("gen_ai.execute_tool.duration", ("gen_ai.tool.name", "gen_ai.agent.name"), _SECONDS),
    "invoke_agent": ("gen_ai.invoke_agent.duration", ("gen_ai.agent.name", "gen_ai.request.model"), _RUN_SECONDS),
}
_USAGE = "gen_ai.client.token.usage"


@dataclass(frozen=True, slots=True)
class _Listener:
    tracer: Tracer
    tokens: Histogram
    durations: Mapping[str, Histogram]
    hears_content: bool


# None while spans are off. Code that runs for every message checks it, and then calls nothing here.
listener: _Listener | None = None


def listen(tracer: Tracer, meter: Meter, content: bool = False) -> Callable[[], None]:
    """From now on spans go to the tracer. Returns a function that ends this."""
    global listener
    durations = {
        operation: meter.create_histogram(name, "s", explicit_bucket_boundaries_advisory=buckets)
        for operation, (name, _, buckets) in _DURATIONS.items()
    }
    tokens = meter.create_histogram(_USAGE, "{token}", explicit_bucket_boundaries_advisory=_TOKENS)
    before, listener = listener, _Listener(tracer, tokens, durations, content)

    def end() -> None:
        global listener
        listener = before

    return end


def hears_content() -> bool:
    return listener is not None and listener.hears_content


class Span:
    """One operation. This one records nothing, because spans are off."""

    def __enter__(self) -> Span:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    def tell(self, attributes: Attributes) -> None:
        """Attributes that are None are left out."""

    def tell_content(self, attributes: Attributes) -> None:
        """Texts, which are recorded as JSON and only on request."""

    def tell_tokens(self, input: int, cached: int, output: int) -> None:
        """Tokens of a request to a model. `cached` is part of `input`."""

    def rename(self, name: str) -> None:
        """Sets a name that is known only later."""

    def started_to_answer(self) -> None:
        """The first part of a model's answer has arrived."""

    def fail(self, code: str) -> None:
        """The operation failed. Never with the error's text, which may contain messages."""


SILENT = Span()


def span(
    name: str, attributes: Attributes, kind: Kind = "internal", causes: Sequence[str] = (), parent: str | None = None
) -> Span:
    """`causes` are the contexts, from `here`, of the spans it is linked to; `parent` is that of a caller."""
    if listener is None:
        return SILENT
    told = {key: value for key, value in attributes.items() if value is not None}
    return _Heard(listener, name, told, kind, causes, parent)


def here() -> str | None:
    """The context of the current span, as in the header `traceparent`. None if there is none."""
    if listener is None:
        return None
    from opentelemetry.trace import get_current_span

    context = get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}"


class _Heard(Span):
    def __init__(
        self,
        listener: _Listener,
        name: str,
        attributes: dict[str, Any],
        kind: Kind,
        causes: Sequence[str],
        parent: str | None,
    ) -> None:
        from opentelemetry import trace

        self._listener = listener
        self._told = attributes
        self._failed: str | None = None
        self._answering = False
        links = [trace.Link(trace.get_current_span(_context_of(each)).get_span_context()) for each in causes]
        self._span: OtelSpan = listener.tracer.start_span(
            name,
            context=_context_of(parent) if parent is not None else None,
            kind=trace.SpanKind[kind.upper()],
            attributes=attributes,
            links=[link for link in links if link.context.is_valid],
        )
        self._started = time.perf_counter()
        # An exception is described by its code: the library would record its text.
        self._current = trace.use_span(self._span, False, record_exception=False, set_status_on_exception=False)

    def __enter__(self) -> Span:
        self._current.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        from opentelemetry.trace import StatusCode

        if error is not None and not isinstance(error, CancelledError | GeneratorExit):
            self.fail(str(getattr(error, "code", None) or type(error).__qualname__))
        if self._failed is not None:
            self._span.set_status(StatusCode.ERROR, self._failed)
        self._current.__exit__(kind, error, traceback)
        operation = self._told.get("gen_ai.operation.name")
        if operation in _DURATIONS:
            labels = self._labels(*_DURATIONS[operation][1], "error.type")
            self._listener.durations[operation].record(time.perf_counter() - self._started, labels)
        self._span.end()

    def tell(self, attributes: Attributes) -> None:
        known = {key: value for key, value in attributes.items() if value is not None}
        self._told |= known
        self._span.set_attributes(known)

    def tell_content(self, attributes: Attributes) -> None:
        if self._listener.hears_content:
            self.tell({key: orjson.dumps(value, default=str).decode() for key, value in attributes.items()})

    def tell_tokens(self, input: int, cached: int, output: int) -> None:
        self.tell(
            {
                "gen_ai.usage.input_tokens": input,
                "gen_ai.usage.cache_read.input_tokens": cached,
                "gen_ai.usage.output_tokens": output,
            }
        )
        labels = self._labels(*_MODEL, *_SERVER)
        self._listener.tokens.record(input, {**labels, "gen_ai.token.type": "input"})
        self._listener.tokens.record(output, {**labels, "gen_ai.token.type": "output"})

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def started_to_answer(self) -> None:
        if not self._answering:
            self._answering = True
            self.tell({"gen_ai.response.time_to_first_chunk": time.perf_counter() - self._started})

    def fail(self, code: str) -> None:
        self._failed = code
        self.tell({"error.type": code})

    def _labels(self, *names: str) -> dict[str, Any]:
        return {name: self._told[name] for name in names if name in self._told}


def _context_of(traceparent: str) -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({"traceparent": traceparent}, Context())
