"""Logging to stderr, one line per event: text on a terminal, JSON elsewhere."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import structlog
import structlog.tracebacks

from majlis.settings import Settings

if TYPE_CHECKING:
    from structlog.typing import Processor


_traceback = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


def set_up_logging(settings: Settings) -> None:
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    text = settings.log_format == "text" or (settings.log_format == "auto" and sys.stderr.isatty())
    # Plain tracebacks: other formatters print local variables, which may contain secrets.
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if text
        else structlog.processors.JSONRenderer()
    )
    shared: list[Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        *([] if text else [_traceback]),
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.StackInfoRenderer(), renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # Libraries log through the standard library; only their warnings are shown.
    formatter = structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
