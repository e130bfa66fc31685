"""The ``jounce`` command: one module per subcommand, registered in one table."""

from jounce_tools.cli.main import main

__all__ = ["main"]
