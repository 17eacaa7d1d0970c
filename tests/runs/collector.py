"""Receives what Majlis tells OpenTelemetry: in this process, and over OTLP like a collector."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from majlis import telemetry


class Heard:
    """Everything that was told while it listened."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self._spans = TracerProvider(shutdown_on_exit=False)
        self._spans.add_span_processor(SimpleSpanProcessor(self._exporter))
        self._metrics = MeterProvider([self._reader], shutdown_on_exit=False)

    @contextmanager
    def listening(self, content: bool = False) -> Iterator[Heard]:
        tracer, meter = self._spans.get_tracer("majlis"), self._metrics.get_meter("majlis")
        end = telemetry.listen(tracer, meter, content)
        try:
            yield self
        finally:
            end()
            self._spans.shutdown()
            self._metrics.shutdown()

    def spans(self, name: str = "") -> list[ReadableSpan]:
        """Whose names begin so, in the order in which they began."""
        found = [span for span in self._exporter.get_finished_spans() if span.name.startswith(name)]
        return sorted(found, key=lambda span: span.start_time or 0)

    def everything(self) -> str:
        return "\n".join(span.to_json() for span in self.spans())

    def points(self, metric: str) -> list[HistogramDataPoint]:
        data = self._reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data is not None else ())
            for scope in resource.scope_metrics
            for each in scope.metrics
            if each.name == metric
            for point in each.data.data_points
            if isinstance(point, HistogramDataPoint)
        ]


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def linked(span: ReadableSpan) -> set[int]:
    return {link.context.span_id for link in span.links}


def id_of(span: ReadableSpan) -> int:
    assert span.context is not None
    found: int = span.context.span_id
    return found


@dataclass
class Collector:
    """An OTLP receiver over real HTTP."""

    url: str = ""
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    metrics: list[ExportMetricsServiceRequest] = field(default_factory=list)

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def names(self) -> list[str]:
        return [span.name for span in self.spans]

    @property
    def metric_names(self) -> set[str]:
        return {
            metric.name
            for request in self.metrics
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    @property
    def services(self) -> set[str]:
        return {
            attribute.value.string_value
            for request in self.traces
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


@contextmanager
def open_collector() -> Iterator[Collector]:
    opened = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/traces":
                opened.traces.append(ExportTraceServiceRequest.FromString(body))
            if self.path == "/v1/metrics":
                opened.metrics.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Prints nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        opened.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        yield opened
        server.shutdown()
        serving.join()
