# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Alignment by geography: two origins on Earth, or a trajectory beside its GNSS fixes.

Both maps have z up and x east at their own origins (`aerotwin_core.geodesy.LocalTangentPlane`);
an odometry has z up and an unknown heading.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import make_transform
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.parameters import parameter
from aerotwin_core.rms import rms_length

_ROBUST_ROUNDS = 20


@dataclass(frozen=True, kw_only=True)
class GnssProtocol:
    """Parameters of an alignment to GNSS fixes."""

    with_scale: bool = parameter(False, text="also find the scale of the odometry (monocular)")
    std_m: float = parameter(
        0.0, text="sigma of a fix per axis; 0 = by residuals", unit="m", minimum=0.0, maximum=1e3
    )
    correlation_fixes: float = parameter(
        1.0, text="correlated fixes that count as one", minimum=1.0, maximum=1e6
    )
    robust_m: float = parameter(
        0.0, text="Huber threshold; 0 = least squares", unit="m", minimum=0.0, maximum=1e3
    )
    min_fixes: int = parameter(3, text="fewer are a failure", minimum=2, maximum=1_000_000)
    max_yaw_std_deg: float = parameter(
        5.0, text="a heading known worse is a failure", unit="deg", minimum=0.0, maximum=180.0
    )


@dataclass(frozen=True, kw_only=True)
class GnssAlignment:
    """An odometry trajectory aligned to its GNSS fixes; check `converged` first.

    Attributes
    ----------
    T_reference_estimate : (4, 4) array
        x_reference = scale * R @ x_estimate + t; R turns about z only.
    scale : float
        1 unless estimated.
    converged, reason : bool, str
        Whether the result may be used, and why.
    covariance : (5, 5) array
        Of x, y, z of the trajectory's middle in the reference [m], yaw [rad] and log(scale); the
        last row is zero if the scale is not estimated. NaN without a solution.
    rmse_m, residuals_m : float, (n, 3) array
        Fix minus trajectory after the alignment, in the reference [m]; `rmse_m` is NaN without a
        solution.
    n_fixes : int
        Fixes used.
    """

    T_reference_estimate: np.ndarray
    scale: float
    converged: bool
    reason: str
    covariance: np.ndarray
    rmse_m: float
    residuals_m: np.ndarray
    n_fixes: int

    @property
    def yaw_std_deg(self) -> float:
        """Standard deviation of the heading [deg]."""
        return float(np.degrees(np.sqrt(self.covariance[3, 3])))


def T_reference_estimate_from_origins(
    reference: GeodeticPoint, estimate: GeodeticPoint
) -> np.ndarray:
    """Return the transform between two east-north-up maps with known geodetic origins.

    Exact on the ellipsoid: besides the shift, the axes turn by the convergence of the meridians
    and the curvature of the Earth (1 km apart: 32 arc seconds of tilt, at 47 degrees of latitude
    35 of yaw).

    Notes
    -----
    Heights above sea level differ from heights above the ellipsoid by the geoid undulation, tens
    of metres: both origins must use the same height reference.
    """
    plane = LocalTangentPlane(reference)
    own = LocalTangentPlane(estimate)
    p = plane.from_geodetic(estimate.latitude_deg, estimate.longitude_deg, estimate.altitude_m)
    R = plane.R_ecef_map.T @ own.R_ecef_map
    return make_transform(R, p)


def align_to_gnss(
    p_estimate: np.ndarray,
    fixes: np.ndarray,
    reference: GeodeticPoint,
    *,
    protocol: GnssProtocol | None = None,
) -> GnssAlignment:
    """Align an odometry trajectory to GNSS fixes: yaw, shift, and optionally scale.

    Failures are returned as well: too few fixes, or too little motion to observe the heading.

    Parameters
    ----------
    p_estimate : (n, 3) array
        Antenna positions by the odometry, z up, at the times of the fixes [m].
    fixes : (n, 3) array
        Latitude [deg], longitude [deg], height above the ellipsoid [m].
    reference : GeodeticPoint
        Origin of the reference map.

    Raises
    ------
    ValueError
        If shapes disagree or values are not finite.

    Notes
    -----
    Heading: with centred positions a (estimate) and b (fixes), the yaw that minimises
    sum |b - s R a|^2 is atan2(sum a x b, sum a . b), horizontally; its variance is
    sigma^2 / (s^2 sum |a|^2). The scale is sum b . R a / sum |a|^2.

    References
    ----------
    Zhang and Scaramuzza 2018 (A Tutorial on Quantitative Trajectory Evaluation, IROS), III-C:
    yaw-only alignment where gravity is observed.
    """
    protocol = protocol or GnssProtocol()
    a, b = _checked(p_estimate, fixes, reference)
    if len(a) < protocol.min_fixes:
        return _failure(a, f"{len(a)} fixes are too few: {protocol.min_fixes} are needed")
    weights = np.ones(len(a))
    for _ in range(1 if protocol.robust_m == 0.0 else _ROBUST_ROUNDS):
        yaw, scale, t, spread = _fit(a, b, weights, protocol.with_scale)
        R = Rotation.from_euler("z", yaw).as_matrix()
        residuals = b - scale * a @ R.T - t
        if protocol.robust_m > 0.0:
            distance = np.linalg.norm(residuals, axis=1)
            weights = protocol.robust_m / np.maximum(distance, protocol.robust_m)
    covariance = _covariance(residuals, weights, scale, spread, protocol)
    result = GnssAlignment(
        T_reference_estimate=make_transform(R, t),
        scale=scale,
        converged=True,
        reason="",
        covariance=covariance,
        rmse_m=rms_length(residuals),
        residuals_m=residuals,
        n_fixes=len(a),
    )
    return _judged(result, float(np.sqrt(spread / weights.sum())), protocol)


def _fit(
    a: np.ndarray, b: np.ndarray, weights: np.ndarray, with_scale: bool
) -> tuple[float, float, np.ndarray, float]:
    """Return yaw, scale, shift and the weighted horizontal spread sum w |a|^2."""
    share = weights / weights.sum()
    mean_a, mean_b = share @ a, share @ b
    u, v = (a - mean_a) * weights[:, None], b - mean_b
    across = float(np.sum(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]))
    along = float(np.sum(u[:, :2] * v[:, :2]))
    yaw = float(np.arctan2(across, along))
    R = Rotation.from_euler("z", yaw).as_matrix()
    spread = float(np.sum(u[:, :2] * (a - mean_a)[:, :2]))
    total = float(np.sum(u * (a - mean_a)))
    scale = float(np.sum((u @ R.T) * v)) / total if with_scale and total > 0.0 else 1.0
    return yaw, scale, mean_b - scale * R @ mean_a, spread


def _covariance(
    residuals: np.ndarray,
    weights: np.ndarray,
    scale: float,
    spread: float,
    protocol: GnssProtocol,
) -> np.ndarray:
    """Return the (5, 5) covariance; missing variances come per axis from the residuals."""
    n = len(residuals)
    n_unknowns = (4.0 + protocol.with_scale) / 3.0  # per axis
    free = max(n / protocol.correlation_fixes - n_unknowns, 0.0)
    if protocol.std_m > 0.0:
        variance = np.full(3, protocol.std_m**2)
    elif free > 0.0:
        share = weights / weights.sum()
        variance = share @ residuals**2 * (n / protocol.correlation_fixes) / free
    else:
        variance = np.full(3, np.inf)
    across = float(variance[:2].mean()) * protocol.correlation_fixes
    covariance = np.zeros((5, 5))
    covariance[[0, 1, 2], [0, 1, 2]] = variance * protocol.correlation_fixes / weights.sum()
    covariance[3, 3] = across / (scale**2 * spread) if spread > 0.0 else np.inf
    if protocol.with_scale:
        covariance[4, 4] = covariance[3, 3]
    return covariance


def _judged(result: GnssAlignment, extent_m: float, protocol: GnssProtocol) -> GnssAlignment:
    if not result.yaw_std_deg <= protocol.max_yaw_std_deg:
        reason = (
            f"the heading is not known: its standard deviation is {result.yaw_std_deg:.1f} deg, "
            f"{protocol.max_yaw_std_deg:g} are allowed; the path extends {extent_m:.1f} m (RMS) "
            "across the ground, fly farther or give the heading"
        )
    elif not result.scale > 0.0:
        reason = f"the scale is {result.scale:.3g}: the fixes do not belong to this path"
    else:
        reason = (
            f"{result.n_fixes} fixes lie {result.rmse_m:.2f} m (RMS) beside the path; heading "
            f"to {result.yaw_std_deg:.2f} deg"
        )
        return replace(result, reason=reason)
    return replace(result, converged=False, reason=reason)


def _failure(a: np.ndarray, reason: str) -> GnssAlignment:
    return GnssAlignment(
        T_reference_estimate=np.eye(4),
        scale=1.0,
        converged=False,
        reason=reason,
        covariance=np.full((5, 5), np.nan),
        rmse_m=float("nan"),
        residuals_m=np.empty((0, 3)),
        n_fixes=len(a),
    )


def _checked(
    p_estimate: np.ndarray, fixes: np.ndarray, reference: GeodeticPoint
) -> tuple[np.ndarray, np.ndarray]:
    a, fixes = np.asarray(p_estimate, dtype=np.float64), np.asarray(fixes, dtype=np.float64)
    if a.ndim != 2 or a.shape[1:] != (3,) or fixes.shape != a.shape:
        raise ValueError(
            f"p_estimate and fixes must both have shape (n, 3), got {a.shape} and {fixes.shape}"
        )
    if not (np.isfinite(a).all() and np.isfinite(fixes).all()):
        raise ValueError("p_estimate and fixes must be finite, got NaN or infinity; drop those")
    plane = LocalTangentPlane(reference)
    b = np.array([plane.from_geodetic(*fix) for fix in fixes.tolist()]).reshape(-1, 3)
    return a, b
