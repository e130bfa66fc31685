"""Build hook: compiles the native libraries into the package, for wheels and for editable installs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def _build_module(root: str) -> Any:
    path = Path(root) / "fmu" / "jounce_fmu" / "build" / "library.py"
    spec = importlib.util.spec_from_file_location("jounce_fmu_build", path)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{path} is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


#: Models whose libraries come with the package, and the data sets that name them. Others are compiled when first used.
BUILT = (("double_wishbone", "hmmwv"), ("halfcar", "halfcar"))


class NativeLibraryHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds ``jounce_fmu/_native`` and marks the wheel as made for one platform."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Packages the build needs: the FMI headers, and a compiler where the machine has none."""
        return ["fmpy>=0.3.20"] + ([] if _build_module(self.root).has_cc() else ["ziglang"])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before packing; a compile error stops the build with the compiler's text."""
        if self.target_name != "wheel":
            return
        build = _build_module(self.root)
        libraries = [build.ensure_library(build.builtin_sources(*names)) for names in BUILT]
        build_data["pure_python"] = False
        # No extension module: any Python 3 will do, only the platform matters.
        from packaging.tags import sys_tags

        build_data["tag"] = f"py3-none-{next(sys_tags()).platform}"
        if version != "editable":
            build_data["force_include"] |= {str(path): f"jounce_fmu/_native/{path.name}" for path in libraries}
