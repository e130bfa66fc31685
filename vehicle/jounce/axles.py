"""Names and order of axles and wheels: front before rear, left before right.

Every vector with a value per wheel, every signal of a wheel and every entry of the vehicle data goes by them.
"""

from __future__ import annotations

#: Axle, as in the names of the vehicle data -> its left and right wheel, as in the names of signals.
AXLES = {"front": ("FL", "FR"), "rear": ("RL", "RR")}
WHEELS = tuple(wheel for pair in AXLES.values() for wheel in pair)
#: (axle, side) of each wheel: 1 on the left, -1 on the right, where y and pseudo-vectors change sign.
CORNERS = tuple((axle, side) for axle in AXLES for side in (1.0, -1.0))
