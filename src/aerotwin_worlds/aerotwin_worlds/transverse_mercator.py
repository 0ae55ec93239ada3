# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""UTM on WGS84, inverse: grid coordinates to latitude and longitude.

Transverse Mercator by the series of Krueger in the third flattening n up to n^6: Karney (2011),
"Transverse Mercator with an accuracy of a few nanometers", J. Geodesy 85, equations 12 to 14 and
36; error below a micrometre within a zone.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aerotwin_core.geodesy import WGS84_FLATTENING, WGS84_SEMI_MAJOR_AXIS_M

_SCALE, _FALSE_EASTING_M = 0.9996, 500000.0


@dataclass(frozen=True, kw_only=True)
class UtmGrid:
    """A zone of UTM on WGS84, in the north or in the south."""

    central_meridian_deg: float
    false_northing_m: float

    def to_geodetic(self, easting_m: ArrayLike, northing_m: ArrayLike) -> tuple[np.ndarray, ...]:
        """Return latitude and longitude [deg] of grid coordinates [m]."""
        radius, beta = _rectifying(WGS84_FLATTENING, WGS84_SEMI_MAJOR_AXIS_M)
        xi = (np.asarray(northing_m, float) - self.false_northing_m) / _SCALE / radius
        eta = (np.asarray(easting_m, float) - _FALSE_EASTING_M) / (_SCALE * radius)
        order = 2.0 * np.arange(1, 7)
        a, b = xi[..., None] * order, eta[..., None] * order
        xi = xi - (beta * np.sin(a) * np.cosh(b)).sum(axis=-1)
        eta = eta - (beta * np.cos(a) * np.sinh(b)).sum(axis=-1)
        tau = np.sin(xi) / np.hypot(np.sinh(eta), np.cos(xi))
        longitude = np.degrees(np.arctan2(np.sinh(eta), np.cos(xi)))
        latitude = np.degrees(np.arctan(_geographic_tangent(tau, WGS84_FLATTENING)))
        return latitude, longitude + self.central_meridian_deg


def is_utm(epsg: int) -> bool:
    """Tell whether an EPSG code is one of a UTM zone on WGS84."""
    return epsg // 100 in (326, 327) and 1 <= epsg % 100 <= 60


def utm(epsg: int) -> UtmGrid:
    """Return the UTM grid on WGS84 with an EPSG code 32601..32660 (north) or 32701..32760 (south).

    Raises `ValueError` if the code is not one of these.
    """
    if not is_utm(epsg):
        raise ValueError(f"epsg must be a WGS84 UTM code (32601..32660, 32701..32760), got {epsg}")
    return UtmGrid(
        central_meridian_deg=6.0 * (epsg % 100) - 183.0,
        false_northing_m=1e7 if epsg // 100 == 327 else 0.0,
    )


def _rectifying(flattening: float, semi_major_axis_m: float) -> tuple[float, np.ndarray]:
    """Radius of the rectifying sphere [m] and the coefficients beta of the inverse series."""
    n = flattening / (2.0 - flattening)
    radius = semi_major_axis_m / (1.0 + n) * (1.0 + n**2 / 4 + n**4 / 64 + n**6 / 256)
    beta = [
        n / 2 - 2 * n**2 / 3 + 37 * n**3 / 96 - n**4 / 360 - 81 * n**5 / 512
        + 96199 * n**6 / 604800,
        n**2 / 48 + n**3 / 15 - 437 * n**4 / 1440 + 46 * n**5 / 105
        - 1118711 * n**6 / 3870720,
        17 * n**3 / 480 - 37 * n**4 / 840 - 209 * n**5 / 4480 + 5569 * n**6 / 90720,
        4397 * n**4 / 161280 - 11 * n**5 / 504 - 830251 * n**6 / 7257600,
        4583 * n**5 / 161280 - 108847 * n**6 / 3991680,
        20648693 * n**6 / 638668800,
    ]  # fmt: skip
    return radius, np.array(beta)


def _geographic_tangent(tau_conformal: np.ndarray, flattening: float) -> np.ndarray:
    """Tangent of the geographic latitude from that of the conformal one (Karney, eq. 19 to 21)."""
    e2 = flattening * (2.0 - flattening)
    e = math.sqrt(e2)
    tau = tau_conformal / (1.0 - e2)
    for _ in range(5):
        root = np.sqrt(1.0 + tau**2)
        sigma = np.sinh(e * np.arctanh(e * tau / root))
        value = tau * np.sqrt(1.0 + sigma**2) - sigma * root
        step = (tau_conformal - value) / np.sqrt(1.0 + value**2)
        tau = tau + step * (1.0 + (1.0 - e2) * tau**2) / ((1.0 - e2) * root)
    return tau
