"""The product's ROSENBROCK for a whole vehicle of one formulation: the fair integrator of bushings.

    (I - g h A) k1 = f(t, x) + g h f',   (I - g h A) k2 = f(t + h, x + h k1) - 2 k1 - g h f',
    x+ = x + h (3 k1 + k2) / 2

with g = 1 - 1/sqrt(2), A = df/dx and f' = df/dt (Verwer et al. 1999, SIAM J. Sci. Comput. 20, 1456: ROS2, L-stable, of
order 2). The step is not halved where the matrix is nearly singular, as the product's is.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.formulations.whole import Steer, Whole
from jounce.math.algebra import SX

Array = NDArray[np.float64]
GAMMA = 1.0 - 1.0 / np.sqrt(2.0)
#: Half the span [s] over which the derivative by time is a difference.
SPAN = 1e-5


class Rosenbrock:
    """Steps of a vehicle whose corners have no rows."""

    def __init__(self, whole: Whole) -> None:
        """Makes the Jacobian, which takes seconds. Raises ValueError for corners with rows."""
        if rows := whole.constrained:
            raise ValueError(f"corners {', '.join(rows)} have rows; expected are formulations that are an ODE")
        self.whole = whole
        x, told = SX.sym("x", whole.size), SX.sym("told", whole.told.numel_out(0))
        self._jacobian = ca.Function("jacobian", [x, told], [ca.jacobian(whole.rates(x, told, 0), x)])

    def step(self, x: Array, time: float, h: float, steer: Steer) -> Array:
        """One step of length h [s]."""
        f, told = self.whole.rates, self.whole.told

        def rates(t: float, state: Array) -> Array:
            return np.array(f(state, told(steer(t)), 0)).ravel()

        by_time = GAMMA * h * (rates(time + SPAN, x) - rates(time - SPAN, x)) / (2 * SPAN)
        slope = np.array(self._jacobian(x, told(steer(time))))
        inverse = np.linalg.inv(np.eye(x.size) - GAMMA * h * slope)
        k1 = inverse @ (rates(time, x) + by_time)
        k2 = inverse @ (rates(time + h, x + h * k1) - 2 * k1 - by_time)
        return self.whole.closed(x + h / 2 * (3 * k1 + k2), told(steer(time + h)), project=False)
