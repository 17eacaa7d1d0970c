"""Prometheus metrics. Labels have few, fixed values: never an id, a name or a raw path."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

registry = CollectorRegistry()

requests = Counter("majlis_http_requests", "HTTP requests.", ["method", "route", "status"], registry=registry)
request_seconds = Histogram(
    "majlis_http_request_seconds",
    "Time to the start of the response.",
    ["method", "route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=registry,
)
messages_posted = Counter("majlis_messages_posted", "Messages stored.", ["sender"], registry=registry)
open_streams = Gauge("majlis_open_streams", "Open live streams.", registry=registry)
limited = Counter("majlis_requests_limited", "Requests rejected by a rate limit.", ["limit"], registry=registry)

runs_settled = Counter("majlis_runs_settled", "Ended runs, by outcome.", ["how"], registry=registry)
run_seconds = Histogram(
    "majlis_run_seconds",
    "Working time of a run, from claim to end or pause.",
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800),
    registry=registry,
)
run_delay_seconds = Histogram(
    "majlis_run_delay_seconds",
    "Time from a delivery to the start of its run.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300),
    registry=registry,
)
context_seconds = Histogram(
    "majlis_context_seconds",
    "Time to load and render the context of a run.",
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1),
    registry=registry,
)
model_requests = Counter("majlis_model_requests", "Requests to models, by outcome.", ["outcome"], registry=registry)
tokens = Counter("majlis_tokens", "Tokens, by kind; input includes cached.", ["kind"], registry=registry)
tool_calls = Counter("majlis_tool_calls", "Tool calls, by outcome.", ["outcome"], registry=registry)
inbox_pending = Gauge("majlis_inbox_pending", "Pending deliveries to agents.", registry=registry)
runs_active = Gauge("majlis_runs_active", "Runs that this process is executing.", registry=registry)
runs_waiting = Gauge("majlis_runs_waiting", "Runs that wait for a reply or a card.", registry=registry)


def render() -> bytes:
    return generate_latest(registry)
