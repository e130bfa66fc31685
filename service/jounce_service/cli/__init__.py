"""The ``jounce`` command: one module per subcommand, registered in one table."""

from jounce_service.cli.main import main

__all__ = ["main"]
