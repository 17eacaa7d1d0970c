"""Spans show what a run did, how long it took and what it cost, without any message text."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from majlis.runs.journal import Entry, write_entries
from majlis.runs.loop import ask as asking
from tests.acceptance.processes import ServerProcess
from tests.cli.processes import Commands
from tests.conditions import until
from tests.model_server import Asked, Reply, calls, say, sequence, silent
from tests.runs.house import House

WORDS = ("the safe opens with Sesame", "nobody but us knows Sesame", "thinking of Sesame")


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Only the engine's tracer: the provider of a process can be set only once."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(asking, "_tracer", provider.get_tracer("majlis"))
    yield exporter
    provider.shutdown()


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def everything(spans: InMemorySpanExporter) -> str:
    return "\n".join(span.to_json() for span in spans.get_finished_spans())


async def ask(house: House, *replies: Any, **config: Any) -> Any:
    scout = await house.agent("Scout", **config)
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(*replies)
    await house.owner.say(space, WORDS[0])
    await house.until_idle()
    [run] = await house.runs()
    return run


async def test_a_run_is_a_span_with_its_requests_and_calls_below_it(house: House, spans: InMemorySpanExporter) -> None:
    first = calls(("get_memories", {}), ("send_message", {"text": WORDS[1]}))
    first.usage = (120, 100, 12)
    run = await ask(house, first, silent(WORDS[2]))
    [whole] = named(spans, "majlis.run")
    assert whole.parent is None
    assert attributes(whole) == {"majlis.run": run["id"], "majlis.agent": "Scout"}
    below = named(spans, "majlis.model_request") + named(spans, "majlis.tool")
    assert {span.parent.span_id for span in below if span.parent} == {whole.context.span_id}
    assert {span.context.trace_id for span in below} == {whole.context.trace_id}
    assert [attributes(span) for span in named(spans, "majlis.model_request")] == [
        {"gen_ai.usage.input_tokens": 120, "gen_ai.usage.output_tokens": 12},
        {"gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 10},
    ]
    assert [attributes(span) for span in named(spans, "majlis.tool")] == [
        {"majlis.tool": "get_memories"},
        {"majlis.tool": "send_message"},
    ]


async def test_spans_contain_no_text_of_messages_or_models(house: House, spans: InMemorySpanExporter) -> None:
    await ask(house, say(WORDS[1]), silent(WORDS[2]))
    assert len(spans.get_finished_spans()) == 4
    assert "Sesame" not in everything(spans)


async def test_each_try_of_a_failing_model_is_a_span_that_says_so(house: House, spans: InMemorySpanExporter) -> None:
    house.world.gateway.engine.retry_seconds = (0,)
    await ask(house, Reply(status=500, text=WORDS[1]), Reply(status=500, text=WORDS[1]), limits={"attempts": 1})
    tries = named(spans, "majlis.model_request")
    assert [span.status.status_code for span in tries] == [StatusCode.ERROR] * 2
    assert [attributes(span) for span in tries] == [{}, {}]
    assert len(named(spans, "majlis.run")) == 1
    assert "Sesame" not in everything(spans)


async def test_a_refused_call_is_an_ordinary_result_and_its_words_stay_here(
    house: House, spans: InMemorySpanExporter
) -> None:
    await ask(house, calls(("send_message", {"txt": WORDS[1]}), ("open_safe", {"code": WORDS[1]})), silent())
    assert [attributes(span)["majlis.tool"] for span in named(spans, "majlis.tool")] == ["send_message", "open_safe"]
    assert "Sesame" not in everything(spans)


async def test_a_database_error_takes_no_words_along(house: House, spans: InMemorySpanExporter) -> None:
    async def meanwhile(asked: Asked) -> Reply:
        """Another worker has the run now and has written this step: ours violates the journal's key."""
        [run] = await house.runs()
        entry = Entry(0, "model", 0, output={"text": "", "calls": []})
        await house.world.gateway.db.write(write_entries, run["id"], [entry])
        return say(WORDS[1])

    scout = await house.agent("Scout")
    space = await house.space("Project Alpha", scout)
    house.model.script = sequence(meanwhile)
    await house.owner.say(space, WORDS[0])
    await until(lambda: named(spans, "majlis.run"))
    [run] = await house.runs()
    await house.owner.ok("POST", f"/api/runs/{run['id']}/cancel")
    assert "Sesame" not in everything(spans)


@dataclass
class Collector:
    """Receives spans like an OpenTelemetry collector."""

    url: str = ""
    received: list[ExportTraceServiceRequest] = field(default_factory=list)

    @property
    def spans(self) -> list[str]:
        return [
            span.name
            for request in self.received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def services(self) -> set[str]:
        return {
            attribute.value.string_value
            for request in self.received
            for resource in request.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }


@pytest.fixture
def collector() -> Iterator[Collector]:
    opened = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path == "/v1/traces":
                opened.received.append(ExportTraceServiceRequest.FromString(body))
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


PROGRAM = """
from opentelemetry import trace
from majlis.tracing import set_up_tracing
end = set_up_tracing()
print(type(trace.get_tracer_provider()).__name__)
with trace.get_tracer("majlis").start_as_current_span("majlis.run"):
    pass
end()
"""
WITHOUT_SDK = "import sys; sys.modules['opentelemetry.sdk.trace'] = None\n"


async def set_up(program: str, **variables: str) -> str:
    """The output of the program. In its own process, because a provider is set once for a whole process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-W", "error", "-c", program, env=os.environ | variables, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    return out.decode()


async def test_without_variables_nothing_is_set_up_and_nothing_leaves(collector: Collector) -> None:
    assert await set_up(PROGRAM) == "ProxyTracerProvider\n"
    assert collector.received == []


async def test_the_sdk_is_not_even_loaded_without_variables() -> None:
    program = "import sys; from majlis.tracing import set_up_tracing; set_up_tracing(); "
    assert await set_up(program + "print(any(name.startswith('opentelemetry') for name in sys.modules))") == "False\n"


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
async def test_an_endpoint_switches_spans_on_and_the_last_ones_leave_at_the_end(
    collector: Collector, variable: str
) -> None:
    path = "/v1/traces" if "TRACES" in variable else ""
    assert "\nTracerProvider\n" in f"\n{await set_up(PROGRAM, **{variable: collector.url + path})}"
    assert collector.spans == ["majlis.run"]
    assert collector.services == {"majlis"}


async def test_the_usual_variables_name_the_service_and_switch_it_off(collector: Collector) -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    await set_up(PROGRAM, **endpoint, OTEL_SERVICE_NAME="house")
    assert collector.services == {"house"}
    assert await set_up(PROGRAM, **endpoint, OTEL_SDK_DISABLED="true") == "ProxyTracerProvider\n"
    assert collector.spans == ["majlis.run"]


async def test_a_missing_sdk_is_said_and_harms_nothing(collector: Collector) -> None:
    printed = await set_up(WITHOUT_SDK + PROGRAM, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert "install majlis[otel]" in printed
    assert printed.endswith("ProxyTracerProvider\n")
    assert collector.received == []


async def test_a_server_that_is_stopped_sends_the_spans_of_its_runs(
    collector: Collector, commands: Commands, database_url: str, tmp_path: Path
) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "NO_PROXY": "127.0.0.1"}
    server = ServerProcess(commands, database_url, tmp_path, **variables)
    await server.start()
    owner = await server.owner()
    scout = await owner.ok("POST", "/api/agents", {"name": "Scout", "config": {"model": "demo"}})
    space = await owner.create_space("Project Alpha")
    await owner.ok("POST", f"/api/spaces/{space}/members", {"entityId": scout["id"]})
    async with owner.follow(space) as follower:
        await owner.say(space, "hello")
        await follower.until("run.completed")
    await owner.http.aclose()
    assert await server.stop() == 0
    assert {"majlis.run", "majlis.model_request", "majlis.tool"} <= set(collector.spans)
    assert "demo agent" not in str(collector.received)
