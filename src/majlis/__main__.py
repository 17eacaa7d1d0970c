"""`python -m majlis`."""

from majlis.cli.main import run

run()
