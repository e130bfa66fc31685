"""Where on Earth the vehicle is: geodetic place, magnetic field and air, for autopilots that want GPS and the like."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: WGS 84: semi-major axis [m] and flattening.
MAJOR, FLATTENING = 6378137.0, 1.0 / 298.257223563
#: Dipole of IGRF-13, epoch 2020.0 [nT]: g10, g11, h11 (Alken et al. 2021, Earth Planets Space 73, 49).
DIPOLE: Final = (-29404.8, -1450.9, 4652.5)
#: Standard atmosphere ISO 2533: pressure [Pa], temperature [K], lapse rate [K/m], g M / (R L).
PRESSURE, TEMPERATURE, LAPSE, EXPONENT = 101325.0, 288.15, 0.0065, 5.255876


@dataclass(frozen=True)
class Origin:
    """Where the origin of the world stands: latitude and longitude [deg], altitude [m]."""

    latitude: float
    longitude: float
    altitude: float

    def geodetic(self, east_north_up: Array) -> tuple[float, float, float]:
        """(latitude [deg], longitude [deg], altitude [m]) of a place: along the ellipsoid's radii of curvature at the
        origin, which errs by 1 mm per km^2 at middle latitudes."""
        sine = math.sin(math.radians(self.latitude))
        squared = FLATTENING * (2.0 - FLATTENING)
        across = MAJOR / math.sqrt(1.0 - squared * sine**2)
        along = across * (1.0 - squared) / (1.0 - squared * sine**2)
        east, north, up = east_north_up.tolist()
        latitude = self.latitude + math.degrees(north / (along + self.altitude))
        parallel = (across + self.altitude) * math.cos(math.radians(self.latitude))
        return latitude, self.longitude + math.degrees(east / parallel), self.altitude + up


def magnetic_field(latitude: float, longitude: float) -> Array:
    """(3,) north, east, down [T] of the dipole on the sphere; latitude and longitude [deg]. It departs from the full
    model by up to a third in strength, which a heading estimator with its own declination bears."""
    theta, phi = math.radians(90.0 - latitude), math.radians(longitude)
    g10, g11, h11 = DIPOLE
    tilted = g11 * math.cos(phi) + h11 * math.sin(phi)
    north = -g10 * math.sin(theta) + tilted * math.cos(theta)
    east = g11 * math.sin(phi) - h11 * math.cos(phi)
    down = -2.0 * (g10 * math.cos(theta) + tilted * math.sin(theta))
    return 1e-9 * np.array([north, east, down])


def pressure(altitude: float) -> float:
    """[Pa] of the standard atmosphere at an altitude [m] below 11 km."""
    return float(PRESSURE * (1.0 - LAPSE * altitude / TEMPERATURE) ** EXPONENT)


def temperature(altitude: float) -> float:
    """[K] of the same."""
    return TEMPERATURE - LAPSE * altitude
