"""Makes the Python stubs in proto/python/jounce_proto from proto/jounce/v1/jounce.proto.

Run ``python proto/generate.py`` after a change of the proto file. protoc would write
``from jounce.v1 import ...``, which collides with the package ``jounce``; the import is rewritten.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "jounce" / "v1" / "jounce.proto"
TARGET = HERE / "python" / "jounce_proto"
NAMES = ("jounce_pb2.py", "jounce_pb2.pyi", "jounce_pb2_grpc.py")


def generate() -> dict[str, str]:
    """File name -> text of each stub. Raises RuntimeError when protoc refuses the file."""
    from importlib.resources import files

    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as scratch:
        code = protoc.main([
            "protoc", f"-I{HERE}", f"-I{files('grpc_tools') / '_proto'}", f"--python_out={scratch}",
            f"--pyi_out={scratch}", f"--grpc_python_out={scratch}", str(SOURCE),
        ])
        if code != 0:
            raise RuntimeError(f"protoc failed with code {code} on {SOURCE.name}")
        made = Path(scratch) / "jounce" / "v1"
        texts = {name: (made / name).read_text() for name in NAMES}
    return {name: re.sub(r"^from jounce\.v1 import", "from jounce_proto import", text, flags=re.MULTILINE)
            for name, text in texts.items()}


def main() -> int:
    """Writes the stubs."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in generate().items():
        (TARGET / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
