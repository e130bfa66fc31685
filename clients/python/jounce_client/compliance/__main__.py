"""``python -m jounce_client.compliance --address unix:/path`` runs the suite; options of pytest may follow."""

from __future__ import annotations

import importlib.util
import sys

#: The pytest settings of a project in the current folder must not affect the suite.
_OPTIONS = ["-p", "jounce_client.compliance.plugin", "-p", "no:cacheprovider", "--override-ini=addopts=",
            "--pyargs", "jounce_client.compliance"]


def main(arguments: list[str]) -> int:
    """The exit code of pytest."""
    if importlib.util.find_spec("pytest") is None:
        sys.stderr.write("the compliance suite needs pytest: pip install 'pytest>=8'\n")
        return 2
    import pytest

    return int(pytest.main([*_OPTIONS, *arguments]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
