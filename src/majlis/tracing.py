"""Optional OpenTelemetry tracing, enabled by the usual OTEL_… variables.

The rest of the code uses only the API, which does nothing by itself. `majlis[otel]` installs the SDK and an exporter.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import structlog

_WANTED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_logger = structlog.get_logger(__name__)


def set_up_tracing() -> Callable[[], None]:
    """Returns a function to call at the end, which sends the last spans."""
    if not any(os.environ.get(name) for name in _WANTED) or os.environ.get("OTEL_SDK_DISABLED") == "true":
        return lambda: None
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _logger.warning("OTEL_… variables are set, but the SDK is missing; install majlis[otel]")
        return lambda: None
    name = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "majlis")}
    provider = TracerProvider(resource=Resource.create(name))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    _logger.info("sending spans to an OpenTelemetry collector")
    return provider.shutdown
