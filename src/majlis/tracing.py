"""Optional OpenTelemetry, enabled by the usual OTEL_… variables. `majlis[otel]` installs the SDK and the exporters."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import structlog

from majlis import __version__, telemetry

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
# The texts of messages, models and tools are added to spans: the usual variable, with the values that libraries use.
_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CONTENT_ON = frozenset({"true", "span_only", "span_and_event"})
_logger = structlog.get_logger(__name__)


def set_up_tracing() -> Callable[[], None]:
    """Returns a function to call at the end, which sends the last spans."""
    spans, numbers = _is_wanted("TRACES"), _is_wanted("METRICS")
    if not (spans or numbers) or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return lambda: None
    try:
        from opentelemetry import metrics, trace
        from opentelemetry.sdk.resources import Resource
    except ImportError:
        _logger.warning("OTEL_… variables are set, but the SDK is missing; install majlis[otel]")
        return lambda: None
    name = {"service.name": os.environ.get("OTEL_SERVICE_NAME", "majlis"), "service.version": __version__}
    resource = Resource.create(name)
    ends = [set_up(resource) for wanted, set_up in ((spans, _send_spans), (numbers, _send_metrics)) if wanted]
    content = os.environ.get(_CONTENT, "").lower() in _CONTENT_ON
    telemetry.listen(trace.get_tracer("majlis", __version__), metrics.get_meter("majlis", __version__), content)
    _logger.info("sending to an OpenTelemetry collector", spans=spans, metrics=numbers, content=content)

    def end() -> None:
        for each in ends:
            each()

    return end


def _is_wanted(signal: str) -> bool:
    if os.environ.get(f"OTEL_{signal}_EXPORTER") == "none":
        return False
    return bool(os.environ.get(_ENDPOINT) or os.environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"))


def _send_spans(resource: Any) -> Callable[[], None]:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider.shutdown


def _send_metrics(resource: Any) -> Callable[[], None]:
    from opentelemetry import metrics
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    provider = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], resource=resource)
    metrics.set_meter_provider(provider)
    return provider.shutdown
