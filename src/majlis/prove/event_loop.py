"""An event loop for several simulated machines: virtual time, and a seeded choice of which machine runs next.

Each machine runs its callbacks in order, as a real event loop does; between machines any order is possible. Time moves
when a callback has run, and jumps when nothing is left to run. The same seed gives the same order.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
import random
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any

# A callback takes up to this many seconds.
_STEP_SECONDS = 0.0004
# A thread of the pool starts within this time.
_THREAD_SECONDS = 0.002


class Machine:
    """Where callbacks run. `skew_millis` is how far its clock is off."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.skew_millis = 0
        self.frozen_until = 0.0
        self.ready: deque[_Handle] = deque()
        self.context: Context = copy_context()
        self.context.run(_MACHINE.set, self)

    def entered(self) -> None:
        """Called before the code of the machine runs."""


_MACHINE: ContextVar[Machine] = ContextVar("majlis_machine")


class _Handle:
    """What asyncio's handles do, without their debug mode: making them is a good part of a schedule's work."""

    __slots__ = ("args", "callback", "context", "is_cancelled")

    def __init__(self, callback: Any, args: Any, context: Context) -> None:
        self.callback = callback
        self.args = args
        self.context = context
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True
        self.callback = self.args = None

    def cancelled(self) -> bool:
        return self.is_cancelled


class SimulatedLoop(asyncio.BaseEventLoop):
    def __init__(self, seed: str, epoch_millis: int, outside: Machine) -> None:
        super().__init__()
        self._random = random.Random(seed)  # noqa: S311
        self._epoch_millis = epoch_millis
        self._seconds = 0.0
        self._timers: list[tuple[float, int, Machine, _Handle]] = []
        self._timer_count = 0
        self.machines = [outside]
        # The machine whose code runs now.
        self.here = outside
        self.steps = 0
        # Called before each step of a machine. It may kill the machine.
        self.before_step: Callable[[Machine], None] | None = None
        # Holds all tasks, so that none is collected and cleaned up during the simulation: a dead process does nothing.
        self._tasks: list[asyncio.Task[Any]] = []
        # Exceptions that nothing has caught.
        self.errors: list[BaseException] = []
        self.set_exception_handler(self._keep_error)

    def time(self) -> float:
        return self._seconds

    def now_millis(self) -> int:
        """The time on the clock of the machine whose code runs."""
        return self._epoch_millis + int(self._seconds * 1000) + self.here.skew_millis

    def call_soon(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        handle = _Handle(callback, args, context or copy_context())
        self._machine(context).ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        return self.call_at(self._seconds + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        handle = _Handle(callback, args, context or copy_context())
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, self._machine(context), handle))
        return handle

    def create_task(self, coro: Any, **more: Any) -> asyncio.Task[Any]:
        task = super().create_task(coro, **more)
        self._tasks.append(task)
        return task

    def dispose(self) -> None:
        """Closes the unfinished tasks of dead machines. Their clean-up no longer has any effect."""
        logging.disable()
        # Otherwise a clean-up that asks for the loop, such as `asyncio.gather`, opens another one, which stays open.
        asyncio.set_event_loop(self)
        for task in self._tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            coroutine = task.get_coro()
            with contextlib.suppress(BaseException):
                if not task.done() and coroutine is not None:
                    coroutine.close()
        self._tasks.clear()
        self._timers.clear()
        self.machines.clear()
        asyncio.set_event_loop(None)
        self.close()
        logging.disable(logging.NOTSET)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """Runs the work of a thread a moment later, in one step."""
        done = self.create_future()

        def work() -> None:
            if done.cancelled():
                return
            try:
                done.set_result(func(*args))
            except Exception as error:
                done.set_exception(error)

        self.call_later(self._random.random() * _THREAD_SECONDS, work)
        return done

    def _machine(self, context: Context | None) -> Machine:
        return self.here if context is None else context.get(_MACHINE, self.here)

    def _run_once(self) -> None:
        """All steps until the loop is stopped, which asyncio would check after each call."""
        machines, timers, draw = self.machines, self._timers, self._random
        while not self._stopping:  # type: ignore[attr-defined]
            if timers and timers[0][0] <= self._seconds:
                self._fire_timers()
            now = self._seconds
            able = [each for each in machines if each.ready and each.frozen_until <= now and each.alive]
            if not able:
                self._jump()
                continue
            machine = able[0] if len(able) == 1 else draw.choice(able)
            handle = machine.ready.popleft()
            if handle.is_cancelled:
                continue
            self.steps += 1
            self._seconds += draw.random() * _STEP_SECONDS
            self.here = machine
            machine.entered()
            if self.before_step is not None:
                self.before_step(machine)
            if machine.alive:
                self._step(handle)

    def _step(self, handle: _Handle) -> None:
        try:
            handle.context.run(handle.callback, *handle.args)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            self._keep(error)

    def _fire_timers(self) -> None:
        timers = self._timers
        while timers and timers[0][0] <= self._seconds:
            _, _, machine, handle = heapq.heappop(timers)
            if machine.alive and not handle.is_cancelled:
                machine.ready.append(handle)

    def _jump(self) -> None:
        """Jumps to the next timer, or to the time when a frozen machine goes on."""
        while self._timers and (self._timers[0][3].is_cancelled or not self._timers[0][2].alive):
            heapq.heappop(self._timers)
        frozen = [each.frozen_until for each in self.machines if each.alive and each.ready]
        upcoming = [*frozen, *(timer[0] for timer in self._timers[:1])]
        if not upcoming:
            raise RuntimeError("The simulation has nothing left to do.")
        self._seconds = max(self._seconds, min(upcoming))

    def _keep_error(self, _loop: object, context: dict[str, Any]) -> None:
        self._keep(context.get("exception"))

    def _keep(self, error: BaseException | None) -> None:
        if isinstance(error, Exception):
            self.errors.append(error)

    def _write_to_self(self) -> None:
        """Wakes nothing: the simulation has no threads."""
