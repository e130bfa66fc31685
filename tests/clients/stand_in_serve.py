"""``jounce serve`` with the stand-in in place of the built-in vehicles."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import stand_in

from jounce_tools.cli import main, serve

serve.registry = lambda config: stand_in.registry()
sys.exit(main())
