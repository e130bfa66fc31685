"""The ``jounce`` command: one module per subcommand, registered in one table."""

import os

# Before numpy is loaded: matrices here are small, and threads of a BLAS that wait for each other by spinning never end
# on one core with real-time priority (`chrt -f 30 jounce simulate ...`).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from jounce_tools.cli.main import main

__all__ = ["main"]
