"""Figures for Prometheus. Labels are few and bounded: never an id, a name or a path as it was typed."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

registry = CollectorRegistry()

_requests = Counter("majlis_http_requests", "HTTP requests answered.", ["method", "route", "status"], registry=registry)
_seconds = Histogram(
    "majlis_http_request_seconds",
    "Time to the start of the answer.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=registry,
)
messages_posted = Counter("majlis_messages_posted", "Messages stored.", ["sender"], registry=registry)
open_streams = Gauge("majlis_open_streams", "Live streams that are open now.", registry=registry)
limited = Counter("majlis_requests_limited", "Requests refused by a rate limit.", ["limit"], registry=registry)


def count_request(scope: Any, status: int, seconds: float) -> None:
    route = getattr(scope.get("route"), "path", "unknown")
    method = scope["method"] if scope["method"] in _METHODS else "other"
    _requests.labels(method, route, status).inc()
    _seconds.labels(method, route).observe(seconds)


def render() -> bytes:
    return generate_latest(registry)


_METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})
