"""The usual OTEL_… variables send spans and metrics to a collector over OTLP (D7)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.processes import ServerProcess
from tests.cli.processes import Commands
from tests.runs.collector import Collector, open_collector


@pytest.fixture
def collector() -> Iterator[Collector]:
    with open_collector() as opened:
        yield opened


PROGRAM = """
from opentelemetry import trace
from majlis import telemetry
from majlis.tracing import set_up_tracing
end = set_up_tracing()
print(type(trace.get_tracer_provider()).__name__)
with telemetry.span("invoke_agent Scout", {"gen_ai.operation.name": "invoke_agent"}):
    pass
end()
"""
WITHOUT_SDK = "import sys; sys.modules['opentelemetry.sdk.resources'] = None\n"


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
    assert collector.traces == []


async def test_opentelemetry_is_not_even_loaded_without_variables() -> None:
    """D7"""
    program = """
import sys
from majlis import telemetry
from majlis.tracing import set_up_tracing
set_up_tracing()
with telemetry.span("invoke_agent Scout", {}):
    telemetry.here()
print(any(name.startswith('opentelemetry') for name in sys.modules))
"""
    assert await set_up(program) == "False\n"


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"])
async def test_an_endpoint_switches_spans_on_and_the_last_ones_leave_at_the_end(
    collector: Collector, variable: str
) -> None:
    path = "/v1/traces" if "TRACES" in variable else ""
    assert "\nTracerProvider\n" in f"\n{await set_up(PROGRAM, **{variable: collector.url + path})}"
    assert collector.names == ["invoke_agent Scout"]
    assert collector.services == {"majlis"}
    assert collector.metric_names == (set() if path else {"gen_ai.invoke_agent.duration"})


async def test_metrics_alone_can_be_sent(collector: Collector) -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    await set_up(PROGRAM, **endpoint, OTEL_TRACES_EXPORTER="none")
    assert collector.traces == []
    assert collector.metric_names == {"gen_ai.invoke_agent.duration"}


async def test_the_usual_variables_name_the_service_and_switch_it_off(collector: Collector) -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    await set_up(PROGRAM, **endpoint, OTEL_SERVICE_NAME="house")
    assert collector.services == {"house"}
    assert await set_up(PROGRAM, **endpoint, OTEL_SDK_DISABLED="true") == "ProxyTracerProvider\n"
    assert collector.names == ["invoke_agent Scout"]


async def test_a_missing_sdk_is_said_and_harms_nothing(collector: Collector) -> None:
    printed = await set_up(WITHOUT_SDK + PROGRAM, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert "install majlis[otel]" in printed
    assert printed.endswith("ProxyTracerProvider\n")
    assert collector.traces == []


async def test_a_server_that_is_stopped_sends_its_spans_with_links_from_requests_to_runs(
    collector: Collector, commands: Commands, database_url: str, tmp_path: Path
) -> None:
    """D7"""
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
    assert {"invoke_agent Scout", "chat demo", "execute_tool send_message"} <= set(collector.names)
    spans = {span.name: span for span in collector.spans}
    [link] = spans["invoke_agent Scout"].links
    posted = spans["POST /api/spaces/{space_id}/messages"]
    assert (link.trace_id, link.span_id) == (posted.trace_id, posted.span_id)
    assert {"gen_ai.client.token.usage", "gen_ai.client.operation.duration"} <= collector.metric_names
    assert "demo agent" not in str(collector.traces)
