# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A camera's pose in the map, each image independently: no drift accumulates.

After Navarro et al. (2025), II.B.3: an image is aligned to the closest virtual key-frame; if that
fails, to a new one rendered at the last known pose; and if that fails too, to those that look most
similar.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import FloatArray, invert_transform
from aerotwin_core.rigid_motion import cross_matrix
from aerotwin_dense_localization.alignment import ImageAlignment
from aerotwin_dense_localization.localization.scan_path import moved_ahead
from aerotwin_dense_localization.localization.virtual_views import VirtualView, VirtualViews
from aerotwin_dense_localization.localization.witness import witnessed

APART_M = 0.5
"""Poses farther apart are distinct; a larger error also counts as lost everywhere here."""
LARGEST_RATIO = 0.8
"""Of the best to the second best, above which neither is accepted (Lowe, IJCV 60, 2004, 7.1)."""


class Status(StrEnum):
    """How an image was localised."""

    TRACKED = "tracked"
    """Against a virtual key-frame of the path."""
    RENEWED = "renewed"
    """Against a view rendered at the last known pose."""
    RELOCALIZED = "relocalized"
    """Where it looked most alike, without an expectation: both halves of the image find it, and no
    place elsewhere explains the image nearly as well. No other image confirms it."""
    LOST = "lost"


@dataclass(frozen=True, kw_only=True, eq=False)
class ImageLocalization:
    """The estimated pose of an image.

    Attributes
    ----------
    T_map_cam : (4, 4) array or None
        Pose of the camera's optical frame; None when lost.
    covariance : (6, 6) array or None
        Of d = (v, omega) [m, rad]: translation and rotation of the camera, in map axes.
    correlation, overlap : float
        With the view it was aligned to; 0 when lost.
    reason : str
        Why it is lost; empty otherwise.
    """

    status: Status
    T_map_cam: FloatArray | None = None
    covariance: FloatArray | None = None
    correlation: float = 0.0
    overlap: float = 0.0
    reason: str = ""

    @property
    def is_localized(self) -> bool:
        """Whether there is a pose."""
        return self.status is not Status.LOST


class ImageLocalizer:
    """Localises the images of one camera in order; closes its views when used as a context manager.

    Parameters
    ----------
    views : VirtualViews
        Of the camera, whose images are undistorted.
    T_map_cam : (4, 4) array, optional
        Initial pose; without it, the first image is searched in all views.
    """

    def __init__(self, views: VirtualViews, T_map_cam: FloatArray | None = None) -> None:
        self._views = views
        self._last: FloatArray | None = T_map_cam
        self._before: FloatArray | None = None
        self._renewed: VirtualView | None = None
        # Where it was found anew, and where it was lost, how it moves is not known: what looks
        # alike near there is no evidence, and must be witnessed as a place without expectation.
        self._is_sure = T_map_cam is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the thread that renders views ahead."""
        self._views.close()

    def localize(
        self, grey: np.ndarray, T_map_expected: FloatArray | None = None
    ) -> ImageLocalization:
        """Localise an image (h, w) [DN].

        Parameters
        ----------
        T_map_expected : (4, 4) array, optional
            Prediction by other sensors; by default the last motion is extrapolated.
        """
        expected = self._expected() if T_map_expected is None else T_map_expected
        is_sure = self._is_sure or T_map_expected is not None
        reason = "there is no pose to begin with"
        for status, view, start in self._attempts(expected):
            view, found = self._aligned(grey, view, start, is_sought=False)
            reason = found.reason or self._leap(view.T_map_view @ found.T_view_cam, start)
            if not reason and not is_sure:
                found = witnessed(view.aligner, grey, self._views.camera, found)
                reason = found.reason
            if not reason:
                return self._taken(status, view, found)
        places, reason = self._sought(grey, reason)
        if places and not (reason := _rivalry(places)):
            return self._taken(Status.RELOCALIZED, *places[0])
        self._before = None  # the next one is expected where the last one was seen
        self._is_sure = False
        return ImageLocalization(status=Status.LOST, reason=reason)

    def _sought(
        self, grey: np.ndarray, reason: str
    ) -> tuple[list[tuple[VirtualView, ImageAlignment]], str]:
        """Return the places that pass verification, best first; or why the last does not."""
        retained = []
        for place in self._views.places(grey):
            view = self._views.get(place.k)
            start = view.T_map_view @ place.T_view_cam
            view, found = self._aligned(grey, view, start, is_sought=True)
            doubt = found.reason or self._doubt(found)
            if not doubt:
                found = witnessed(view.aligner, grey, self._views.camera, found)
                doubt = found.reason
            if doubt:
                reason = doubt
            else:
                retained.append((view, found))
        return sorted(retained, key=lambda one: -one[1].correlation), reason

    def _aligned(
        self, grey: np.ndarray, view: VirtualView, start: FloatArray, *, is_sought: bool
    ) -> tuple[VirtualView, ImageAlignment]:
        """Return the last view aligned to and the result; views at the estimated pose come last.

        A place found without an expectation is always rendered at its own pose.
        """
        camera = self._views.camera
        found = view.aligner.align(grey, camera, _from(view, start))
        for _ in range(max(self._views.parameters.n_refinements, int(is_sought))):
            if not found.converged:
                break
            view = self._views.render(view.T_map_view @ found.T_view_cam)
            found = view.aligner.align(grey, camera, np.eye(4))
        return view, found

    def _attempts(
        self, expected: FloatArray | None
    ) -> Iterator[tuple[Status, VirtualView, FloatArray]]:
        """Yield views near an expected pose to align to, and initial poses."""
        views, setback_m = self._views, self._views.parameters.setback_m
        if expected is not None:
            yield Status.TRACKED, views.get(views.closest(expected)), expected
            if self._renewed is not None:
                yield Status.RENEWED, self._renewed, expected
            self._renewed = views.render(moved_ahead(expected, -setback_m))
            yield Status.RENEWED, self._renewed, expected

    def _expected(self) -> FloatArray | None:
        if self._last is None or self._before is None:
            return self._last
        return self._last @ (invert_transform(self._before) @ self._last)

    def _doubt(self, found: ImageAlignment) -> str:
        least = self._views.parameters.min_relocalized_correlation
        if found.correlation >= least:
            return ""
        return (
            f"the likeliest place has a correlation of {found.correlation:.2f}, less than "
            f"{least:.2f}"
        )

    def _leap(self, T_map_cam: FloatArray, expected: FloatArray) -> str:
        p = self._views.parameters
        off = invert_transform(expected) @ T_map_cam
        shift_m = float(np.linalg.norm(off[:3, 3]))
        turn_deg = float(np.degrees(Rotation.from_matrix(off[:3, :3]).magnitude()))
        if shift_m > p.max_step_m or turn_deg > p.max_step_deg:
            return (
                f"{shift_m:.2f} m and {turn_deg:.1f} degrees from where it was expected, more than "
                f"{p.max_step_m:.2f} m or {p.max_step_deg:.1f} degrees"
            )
        return ""

    def _taken(self, status: Status, view: VirtualView, found: ImageAlignment) -> ImageLocalization:
        T_map_cam = view.T_map_view @ found.T_view_cam
        # From where it was to where it was found anew is no motion that goes on.
        self._before = None if status is Status.RELOCALIZED else self._last
        self._last = T_map_cam
        self._is_sure = status is not Status.RELOCALIZED
        if status is Status.TRACKED:
            self._renewed = None
            following = self._expected()
            if following is not None:
                self._views.prefetch(self._views.closest(following))
        return ImageLocalization(
            status=status,
            T_map_cam=T_map_cam,
            covariance=_covariance_map(found.covariance, view.T_map_view, T_map_cam),
            correlation=found.correlation,
            overlap=found.overlap,
        )


def _rivalry(places: list[tuple[VirtualView, ImageAlignment]]) -> str:
    """Return which other place explains an image nearly as well as the first; empty if none.

    The variance of the image that a place leaves unexplained is compared like feature distances.
    """
    T_best, left = places[0][0].T_map_view @ places[0][1].T_view_cam, _unexplained(places[0][1])
    for view, found in places[1:]:
        T_rival = view.T_map_view @ found.T_view_cam
        apart_m = float(np.linalg.norm(T_rival[:3, 3] - T_best[:3, 3]))
        if apart_m > APART_M and left > LARGEST_RATIO * _unexplained(found):
            return (
                f"two places {apart_m:.2f} m apart look alike, with correlations of "
                f"{places[0][1].correlation:.2f} and {found.correlation:.2f}"
            )
    return ""


def _unexplained(found: ImageAlignment) -> float:
    return 1.0 - found.correlation**2


def _from(view: VirtualView, T_map_cam: FloatArray) -> FloatArray:
    return invert_transform(view.T_map_view) @ T_map_cam


def _covariance_map(
    covariance: FloatArray, T_map_view: FloatArray, T_map_cam: FloatArray
) -> FloatArray:
    """Return the covariance of translation and rotation of the camera, in map axes.

    The alignment's d moves the camera as exp(d) about the view's eye: its translation is
    v + omega x p_view_cam.
    """
    R, p = T_map_view[:3, :3], T_map_cam[:3, 3] - T_map_view[:3, 3]
    J = np.zeros((6, 6))
    J[:3, :3] = J[3:, 3:] = R
    J[:3, 3:] = -cross_matrix(p) @ R
    return J @ covariance @ J.T
