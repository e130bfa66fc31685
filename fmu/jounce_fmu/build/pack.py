"""Packs an .fmu: the library that the host itself loads, its complete sources, and the model description."""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from jounce.signals import SignalTable
from jounce_fmu.build.library import NATIVE, PLATFORMS, BadRequest, Sources, compile_library, ensure_library
from jounce_fmu.description.fmi2 import NameStyle, model_description
from jounce_fmu.description.fmi3 import build_description, model_description3
from jounce_fmu.description.icon import icon_png
from jounce_fmu.description.terminals import terminals_and_icons

_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # The earliest of the zip format; fixed, so that equal inputs give equal files.


def export_fmu(
    path: str | os.PathLike[str],
    table: SignalTable,
    sources: Sources,
    *,
    names: NameStyle = "structured",
    platforms: Sequence[str] = ("linux64",),
    library_folder: Path = NATIVE,
    fmi: int = 2,
    scalars: bool = False,
    resources: Mapping[str, bytes] | None = None,
) -> Path:
    """Writes an FMU of FMI 2.0 or 3.0 to ``path``, and returns the path.

    ``resources`` are further files by name, as the model asks for them.

    In FMI 3 vector signals are arrays unless ``scalars`` is set; FMI 2 has only scalars. With empty ``platforms``
    the FMU has only its sources, for importers that compile. On Linux, ``linux64`` packs the library of
    `ensure_library`; other platforms of `jounce_fmu.build.library.PLATFORMS` are cross-compiled with ziglang.
    Raises BuildError or DescribeError.
    """
    if unknown := [p for p in platforms if p not in PLATFORMS]:
        raise BadRequest(f"platform {unknown[0]!r}: expected {', '.join(PLATFORMS)}")
    if fmi not in (2, 3):
        raise BadRequest(f"FMI version {fmi!r}: expected 2 or 3")
    packed = sources.packed()
    c_files = [name for name in packed if name.endswith(".c")]
    content = {f"sources/{name}": data for name, data in packed.items()}
    content |= {f"resources/{name}": data for name, data in (resources or {}).items()}
    if fmi == 2:
        content["modelDescription.xml"] = model_description(
            table, sources.identifier, source_files=c_files, names=names
        )
    else:
        content["modelDescription.xml"] = model_description3(table, sources.identifier, names=names, scalars=scalars)
        content["sources/buildDescription.xml"] = build_description(sources.identifier, c_files)
        content["terminalsAndIcons/terminalsAndIcons.xml"] = terminals_and_icons(table, names=names, scalars=scalars)
        content["terminalsAndIcons/icon.png"] = icon_png()
    libraries: dict[str, list[bytes]] = {}
    for name in dict.fromkeys(platforms):
        platform = PLATFORMS[name]
        folder = platform.fmi2 if fmi == 2 else platform.fmi3
        place = f"binaries/{folder}/{sources.identifier}{platform.suffix}"
        libraries.setdefault(place, []).append(_binary(sources, name, platform.target, library_folder))
    content.update({place: _universal(found) for place, found in libraries.items()})
    return write_archive(Path(path), content)


def write_archive(destination: Path, content: Mapping[str, bytes]) -> Path:
    """Writes a zip file with the model description first; equal content gives equal bytes."""
    with zipfile.ZipFile(destination, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(content, key=lambda n: (n != "modelDescription.xml", n)):
            info = zipfile.ZipInfo(name, _TIMESTAMP)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, content[name])
    return destination


def _binary(sources: Sources, platform: str, target: str, library_folder: Path) -> bytes:
    if platform == _native_platform():
        return ensure_library(sources, library_folder).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "cross"
        compile_library(sources, library, target)
        return library.read_bytes()


def _native_platform() -> str:
    uname = os.uname() if hasattr(os, "uname") else None
    return "linux64" if uname and uname.sysname == "Linux" and uname.machine == "x86_64" else ""


def _universal(libraries: Sequence[bytes]) -> bytes:
    """Returns one library as it is, and several Mach-O libraries as a universal file (fat_header, <mach-o/fat.h>)."""
    if len(libraries) == 1:
        return libraries[0]
    page = 14  # log2 of the alignment: the page size on ARM.
    header = struct.pack(">II", 0xCAFEBABE, len(libraries))
    body = b""
    first = 1 << page
    for library in libraries:
        _, kind, subtype = struct.unpack_from("<III", library)
        body += b"\0" * (-len(body) % first)
        header += struct.pack(">IIIII", kind, subtype, first + len(body), len(library), page)
        body += library
    return header.ljust(first, b"\0") + body
