"""Layouts, which define the order of named parts in a flat vector."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import casadi as ca


class Layout:
    """Names and sizes of the parts of a flat vector, in order."""

    def __init__(self, **sizes: int) -> None:
        """``sizes`` are the parts' names and sizes, in order."""
        self.sizes = sizes
        self.first: dict[str, int] = {}
        at = 0
        for name, size in sizes.items():
            self.first[name] = at
            at += size
        self.size = at

    def split(self, vector: ca.SX) -> dict[str, ca.SX]:
        """The parts of a vector by name."""
        return {k: vector[self.first[k] : self.first[k] + n] for k, n in self.sizes.items()}

    def join(self, **parts: ca.SX | float) -> ca.SX:
        """The vector of all parts. Raises ValueError for missing or further names, or wrong sizes."""
        import casadi as ca

        if parts.keys() != self.sizes.keys():
            raise ValueError(f"parts differ from the layout: {parts.keys() ^ self.sizes.keys()}")
        for name, part in parts.items():
            rows = ca.SX(part).shape[0]
            if rows != self.sizes[name]:
                raise ValueError(f"{name} has {rows} numbers; the layout has {self.sizes[name]}")
        return ca.vertcat(*(ca.SX(parts[name]) for name in self.sizes))
