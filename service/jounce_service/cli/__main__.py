"""``python -m jounce_service.cli``."""

import sys

from jounce_service.cli.main import main

sys.exit(main())
