"""``python -m jounce_tools.cli``."""

import sys

from jounce_tools.cli.main import main

sys.exit(main())
