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
        texts["jounce_pb2_grpc.pyi"] = _service_types(SOURCE.read_text())
    # A bare Mapping is refused by strict type checks.
    texts["jounce_pb2.pyi"] = re.sub(r"\b_Mapping\]", "_Mapping[str, object]]", texts["jounce_pb2.pyi"])
    return {name: re.sub(r"^from jounce\.v1 import", "from jounce_proto import", text, flags=re.MULTILINE)
            for name, text in texts.items()}


def _service_types(proto: str) -> str:
    """Types of jounce_pb2_grpc.py, which protoc does not write; calls are Any, for sync and aio alike."""
    service = re.search(r"^service (\w+) \{(.*?)^\}", proto, re.MULTILINE | re.DOTALL)
    if service is None:
        raise RuntimeError("no service in the proto file")
    name, calls = service[1], re.findall(r"^  rpc (\w+)\(", service[2], re.MULTILINE)
    lines = ["from typing import Any", "", f"class {name}Stub:"]
    lines += ["    def __init__(self, channel: Any) -> None: ..."]
    lines += [f"    {call}: Any" for call in calls]
    lines += ["", f"class {name}Servicer:"]
    lines += [f"    def {call}(self, request: Any, context: Any) -> Any: ..." for call in calls]
    lines += ["", f"def add_{name}Servicer_to_server(servicer: {name}Servicer, server: Any) -> None: ...", ""]
    return "\n".join(lines)


def main() -> int:
    """Writes the stubs."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in generate().items():
        (TARGET / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
