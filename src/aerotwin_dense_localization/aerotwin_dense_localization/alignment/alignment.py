# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Direct image alignment: inverse compositional, coarse to fine, with robust weights.

Estimated are the motion T_view_cam, a gain and an offset that make the image, sampled where the
points of the view project, equal to the view. Grey values change with the motion by the view's own
gradients, which are computed once per view; only residuals and weights change between steps.

References: Baker, Matthews: Lucas-Kanade 20 years on: a unifying framework. IJCV 56(3), 2004. Kerl,
Sturm, Cremers: Robust odometry estimation for RGB-D cameras. ICRA 2013.
"""

from dataclasses import dataclass

import numpy as np

from aerotwin_core.camera import PinholeCamera
from aerotwin_core.frames import FloatArray, invert_transform, make_transform
from aerotwin_core.rigid_motion import exponential, nearest_rotation
from aerotwin_core.threads import run_ranges
from aerotwin_dense_localization.alignment.equations import (
    Equations,
    correlation_of,
    image_shifts,
    inverse_of_motion,
    lengthened,
    solve,
    spread_of,
)
from aerotwin_dense_localization.alignment.kernels import (
    N_UNKNOWNS,
    add_depth_equations,
    add_grey_equations,
    find_distances,
    find_residuals,
    select_pixels,
    student_scale,
)
from aerotwin_dense_localization.alignment.parameters import AlignmentParameters
from aerotwin_dense_localization.alignment.pyramid import camera_levels, depth_levels, grey_levels

_FIRST_SIGMA_DN, _FIRST_SIGMA_M = 10.0, 0.05
_SCALE_STRIDE = 7  # every n-th residual is used for the scale; not a divisor of usual widths
_MIN_PIXELS = 200
_LENGTHENED_PX = 0.3  # steps are lengthened up to here: beyond, the path is not straight
_STILL_PX = 1e-6
_N_SHIFTED = 300  # points used for the shift of an image


@dataclass(frozen=True, kw_only=True, eq=False)
class DepthImage:
    """An image with the depth of its pixels: of a camera, or rendered from a map.

    Attributes
    ----------
    grey : (h, w) array
        [DN]; NaN where unknown.
    depth : (h, w) array
        z in the optical frame [m]; NaN or 0 where unknown.
    variance : (h, w) array, optional
        Of the depth [m^2].
    """

    grey: np.ndarray
    depth: np.ndarray
    camera: PinholeCamera
    variance: np.ndarray | None = None

    def __post_init__(self) -> None:
        shape = (self.camera.height, self.camera.width)
        for name in ("grey", "depth", "variance"):
            array = getattr(self, name)
            if array is not None and array.shape != shape:
                raise ValueError(f"{name} must be {shape} as the camera, got {array.shape}")


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageAlignment:
    """Estimated pose of an image relative to a view.

    Attributes
    ----------
    T_view_cam : (4, 4) array
        Pose of the camera in the view's optical frame.
    covariance : (6, 6) array
        Of d = (v, omega) [m, rad] in the view's frame: the true pose is exp(d) T_view_cam.
    converged : bool
        Whether the result is accepted; if not, `reason` says why.
    gain, offset : float
        image = gain view + offset [1, DN].
    overlap : float
        Share of the view's pixels that the image shows.
    correlation : float
        Of view and image over them, at the finest level.
    sigma_dn : float
        Scale of the residuals [DN].
    n_iterations : int
        Over all levels.
    """

    T_view_cam: FloatArray
    covariance: FloatArray
    converged: bool
    reason: str
    gain: float
    offset: float
    overlap: float
    correlation: float
    sigma_dn: float
    n_iterations: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Level:
    """Selected pixels of a view at one level of the pyramid; `shifts` is that of `image_shifts`."""

    points: np.ndarray
    values: np.ndarray
    slopes: np.ndarray
    normals: np.ndarray
    shifts: np.ndarray


@dataclass(kw_only=True)
class _State:
    T: FloatArray  # T_cam_view
    gain: float = 1.0
    offset: float = 0.0
    sigma_dn: float = _FIRST_SIGMA_DN
    sigma_m: float = _FIRST_SIGMA_M
    n_iterations: int = 0


class DirectAlignment:
    """Aligns images to one view, which is prepared once."""

    def __init__(self, view: DepthImage, parameters: AlignmentParameters | None = None) -> None:
        self.parameters = p = AlignmentParameters() if parameters is None else parameters
        variance = np.zeros(view.grey.shape, np.float32) if view.variance is None else view.variance
        cameras = camera_levels(view.camera, p.n_levels)
        pyramids = (
            grey_levels(view.grey, p.n_levels),
            depth_levels(np.where(view.depth > 0.0, view.depth, np.nan), p.n_levels),
            grey_levels(variance, p.n_levels),
        )
        self._levels = [
            self._select(level, camera, *images)
            for level, (camera, *images) in enumerate(zip(cameras, *pyramids, strict=True))
        ]

    def align(
        self,
        grey: np.ndarray,
        camera: PinholeCamera,
        T_view_cam: FloatArray,
        *,
        depth: np.ndarray | None = None,
        depth_worth: float = 1.0,
    ) -> ImageAlignment:
        """Return the pose of an image relative to the view.

        Parameters
        ----------
        grey : (h, w) array
            The undistorted image [DN].
        camera : PinholeCamera
            Camera of the image; it may differ from the view's.
        T_view_cam : (4, 4) array
            Initial estimate.
        depth : (h, w) array, optional
            z of the image's pixels [m], NaN where unknown: adds distances to the view's surface.
        depth_worth : float
            Weight of these distances relative to grey values; 1 is their likelihood.
        """
        n_levels = len(self._levels)
        images = grey_levels(grey, n_levels)
        depths = None if depth is None else depth_levels(depth, n_levels)
        cameras = camera_levels(camera, len(images))
        # Callers start at products of earlier results: rounding must not accumulate.
        start = make_transform(nearest_rotation(T_view_cam[:3, :3]), T_view_cam[:3, 3])
        state = _State(T=invert_transform(start))
        equations, has_settled = None, False
        first = min(n_levels, len(images)) - 1
        for k in range(first, min(self.parameters.finest_level, first) - 1, -1):
            target = _Target(
                grey=images[k],
                K=cameras[k].matrix,
                depth=None if depths is None else depths[k],
                depth_worth=depth_worth,
            )
            # A coarse level of a view with holes may show too little: finer ones show more.
            equations, has_settled = self._descend(self._levels[k], target, state)
        return self._judged(state, equations, has_settled)

    def _select(
        self,
        level: int,
        camera: PinholeCamera,
        grey: np.ndarray,
        depth: np.ndarray,
        variance: np.ndarray,
    ) -> _Level:
        p = self.parameters
        stride = p.stride if level == 0 else 1
        n = (grey.shape[0] // stride + 1) * (grey.shape[1] // stride + 1)
        points, normals = np.empty((n, 3), np.float32), np.empty((n, 3), np.float32)
        slopes, values = np.empty((6, n), np.float32), np.empty(n, np.float32)
        n = select_pixels(
            grey, depth, variance, camera.matrix, stride, p.min_gradient_dn,
            p.max_depth_sigma, points, values, slopes, normals,
        )  # fmt: skip
        return _Level(
            points=points[:n],
            values=values[:n],
            slopes=np.ascontiguousarray(slopes[:, :n]),
            normals=normals[:n],
            shifts=image_shifts(points[: n : max(n // _N_SHIFTED, 1)]),
        )

    def _descend(
        self, level: _Level, target: "_Target", state: _State
    ) -> tuple[Equations | None, bool]:
        """Iterate until steps are small; also return whether they became so."""
        if len(level.points) < _MIN_PIXELS:
            return None, False
        p, equations = self.parameters, None
        before, taken = None, None
        for _ in range(p.max_iterations):
            equations = self._linearised(level, target, state)
            step = None if equations is None else solve(equations)
            if equations is None or step is None:
                return None, False
            moved_px = target.K[0, 0] * np.sqrt(step[:6] @ level.shifts @ step[:6])
            longer = lengthened(equations, step[:6], before, taken)
            longer = min(longer, max(1.0, _LENGTHENED_PX / max(moved_px, _STILL_PX)))
            before, taken = step[:6], longer * step[:6]
            state.T = state.T @ invert_transform(exponential(taken))
            state.gain += step[6]
            state.offset += step[7]
            state.n_iterations += 1
            if longer * moved_px < p.stop_px or step @ equations.H @ step < p.stop_sigmas**2:
                return equations, True
        return equations, False

    def _linearised(self, level: _Level, target: "_Target", state: _State) -> Equations | None:
        """Return the normal equations at the estimate; None where too few points are visible."""
        p, n = self.parameters, len(level.points)
        T = np.ascontiguousarray(state.T[:3])
        residuals = np.empty(n, np.float32)
        seen = sum(
            run_ranges(
                find_residuals, n, level.points, level.values, T, target.K, target.grey,
                state.gain, state.offset, residuals,
            )
        )  # fmt: skip
        if seen < _MIN_PIXELS:
            return None
        nu = p.degrees_of_freedom
        state.sigma_dn = max(student_scale(residuals, _SCALE_STRIDE, nu, state.sigma_dn), 1e-3)
        parts = run_ranges(
            _grey_part, n, level, residuals, state.gain, state.sigma_dn, nu, p.is_gain_free
        )
        H, g, sums = (sum(part[k] for part in parts) for k in range(3))
        H, g = H / state.sigma_dn**2, g / state.sigma_dn**2
        if target.depth is not None:
            _add_depth(level, target, state, nu, H, g)
        H = H + np.triu(H, 1).T
        return Equations(
            H=H, g=g, overlap=seen / n, correlation=correlation_of(sums), spread=spread_of(sums)
        )

    def _judged(
        self, state: _State, equations: Equations | None, has_settled: bool
    ) -> ImageAlignment:
        covariance = np.full((6, 6), np.inf)
        overlap = correlation = 0.0
        if equations is not None:
            overlap, correlation = equations.overlap, equations.correlation
            covariance = equations.spread * inverse_of_motion(equations.H)
        reason = self._doubt(state, equations, has_settled, covariance)
        return ImageAlignment(
            T_view_cam=invert_transform(state.T),
            covariance=covariance,
            converged=not reason,
            reason=reason,
            gain=state.gain,
            offset=state.offset,
            overlap=overlap,
            correlation=correlation,
            sigma_dn=state.sigma_dn,
            n_iterations=state.n_iterations,
        )

    def _doubt(
        self,
        state: _State,
        equations: Equations | None,
        has_settled: bool,
        covariance: FloatArray,
    ) -> str:
        p = self.parameters
        if equations is None:
            return f"fewer than {_MIN_PIXELS} pixels of the view with depth are in the image"
        if not has_settled:
            return f"still moves after {p.max_iterations} steps at the finest level"
        if equations.overlap < p.min_overlap:
            return f"overlap {equations.overlap:.2f}, less than {p.min_overlap:.2f}"
        if not equations.correlation >= p.min_correlation:
            return f"correlation {equations.correlation:.2f}, less than {p.min_correlation:.2f}"
        if not 1.0 / p.max_gain <= state.gain <= p.max_gain:
            return f"gain {state.gain:.2g}, beyond a factor of {p.max_gain:g}"
        sigma_m = float(np.sqrt(np.linalg.eigvalsh(covariance[:3, :3])[-1]))
        if not sigma_m <= p.max_sigma_m:
            return f"position open to {sigma_m:.3f} m, more than {p.max_sigma_m:.3f} m"
        return ""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Target:
    """The image at one level."""

    grey: np.ndarray
    K: FloatArray
    depth: np.ndarray | None
    depth_worth: float


def _grey_part(
    start: int, stop: int, level: _Level, residuals: np.ndarray, *scales: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    H, g, sums = np.zeros((N_UNKNOWNS, N_UNKNOWNS)), np.zeros(N_UNKNOWNS), np.zeros(9)
    add_grey_equations(start, stop, level.slopes, level.values, residuals, *scales, H, g, sums)
    return H, g, sums


def _add_depth(
    level: _Level, target: _Target, state: _State, nu: float, H: FloatArray, g: FloatArray
) -> None:
    n, T = len(level.points), np.ascontiguousarray(state.T[:3])
    distances = np.empty(n, np.float32)
    seen = sum(
        run_ranges(
            find_distances, n, level.points, level.normals, T, target.K, target.depth, distances
        )
    )
    if seen < _MIN_PIXELS:
        return
    state.sigma_m = max(student_scale(distances, _SCALE_STRIDE, nu, state.sigma_m), 1e-5)
    worth = target.depth_worth / state.sigma_m**2
    add_depth_equations(
        0, n, level.points, level.normals, distances, state.sigma_m, nu, worth, H, g
    )
