# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Poses of pictures from the pictures, GNSS and the gimbal: features, pairs, tracks, adjustment.

No ground truth is used: the only input about a picture is its `Photo`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.frames import make_transform
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.rms import rms
from aerotwin_core.threads import default_thread_count, run_tasks
from aerotwin_reconstruction.bundle.adjustment import (
    MOST_PICTURES,
    AdjustmentBlock,
    Priors,
    adjust,
    largest_angles,
    residuals,
    triangulate,
)
from aerotwin_reconstruction.bundle.features import (
    PhotoFeatures,
    find_features,
    match,
    nearby_pairs,
    read_picture,
)
from aerotwin_reconstruction.bundle.parameters import BundleParameters
from aerotwin_reconstruction.bundle.tracks import Tracks, link_tracks
from aerotwin_reconstruction.survey.flight import camera_rotation
from aerotwin_reconstruction.survey.folder import Photo

_COARSE_PX = (30.0, 5.0)
"""Huber's limits of the first adjustments: a degree of gimbal error is 20 px."""
_SETTLED_COARSELY = 0.02
_FIXED = 1e-6
_NEIGHBOURS_AT_FIRST = 2
Report = Callable[[str, float], object]  # progress callback: the stage, and its completed share


@dataclass(frozen=True, kw_only=True)
class PhotoAlignment:
    """Poses of pictures, and their consistency.

    Attributes
    ----------
    photos, T_map_optical : tuple of Photo, (k, 4, 4) array
        The pictures and their poses.
    lens : (5,) array
        Focal length, principal point [px], radial coefficients.
    points, tracks : (m, 3) array, Tracks
        Remaining tracks, and their points in map [m].
    is_tied : (k,) bool array
        Whether a picture has tracks; the pose of others is that of GNSS and gimbal.
    reprojection_rms_px : float
        Per coordinate.
    origin : GeodeticPoint
        Of the map.
    """

    photos: tuple[Photo, ...]
    T_map_optical: np.ndarray
    lens: np.ndarray
    points: np.ndarray
    tracks: Tracks
    is_tied: np.ndarray
    reprojection_rms_px: float
    origin: GeodeticPoint

    @property
    def K(self) -> np.ndarray:
        """Intrinsic matrix (3, 3)."""
        return _intrinsics(self.lens)


def align_photos(
    photos: Sequence[Photo],
    origin: GeodeticPoint,
    parameters: BundleParameters,
    *,
    report: Report = lambda text, share: None,
) -> PhotoAlignment:
    """Return the poses of the pictures in the map at an origin.

    Raises
    ------
    UserError
        If pictures do not state their focal length, are too many, or do not match.
    """
    if len(photos) > MOST_PICTURES:
        raise UserError(f"{len(photos)} pictures are too many, {MOST_PICTURES} at most; split them")
    priors = known_before(photos, origin, parameters)
    features = _features(photos, parameters, report)
    start = AdjustmentBlock(
        rotation=priors.rotation, centre=priors.centre, lens=priors.lens, points=np.empty((0, 3))
    )
    tracks = _tracks(features, start, parameters, report)
    report("bundle adjustment", 0.0)
    block, tracks = _adjusted(start, tracks, priors, parameters)
    report("bundle adjustment", 1.0)
    rms_px = rms(residuals(block, tracks))
    poses = np.stack([make_transform(R, c) for R, c in zip(block.rotation, block.centre)])
    return PhotoAlignment(
        photos=tuple(photos),
        T_map_optical=poses,
        lens=block.lens,
        points=block.points,
        tracks=tracks,
        is_tied=np.bincount(tracks.picture, minlength=len(photos)) >= parameters.min_matches,
        reprojection_rms_px=rms_px,
        origin=origin,
    )


def known_before(
    photos: Sequence[Photo], origin: GeodeticPoint, parameters: BundleParameters
) -> Priors:
    """Return the priors from the pictures' tags: positions, attitudes, lens, with their errors."""
    plane = LocalTangentPlane(origin)
    tags = [photo.tag for photo in photos]
    centre = np.array(
        [
            plane.from_geodetic(p.latitude_deg, p.longitude_deg, p.altitude_m)
            for p in (tag.position for tag in tags)
        ]
    )
    focal = tags[0].focal_px
    if focal is None:
        raise UserError(
            f"{photos[0].path}: tells no focal length; write FocalLength and "
            "FocalPlaneXResolution or FocalLengthIn35mmFilm into its EXIF"
        )
    middle = (0.5 * (tags[0].width_px - 1), 0.5 * (tags[0].height_px - 1))
    is_free = 1.0 if parameters.refine_intrinsics else _FIXED
    sigma = (
        parameters.focal_share * focal,
        *2 * (parameters.centre_px,),
        *2 * (parameters.distortion,),
    )
    return Priors(
        centre=centre,
        centre_sigma_m=np.array([_sigma(tag, parameters) for tag in tags]),
        rotation=_attitudes(photos, centre),
        rotation_sigma=float(np.radians(parameters.attitude_deg)),
        lens=np.array([focal, *middle, 0.0, 0.0]),
        lens_sigma=is_free * np.array(sigma),
    )


def _sigma(tag, parameters: BundleParameters) -> tuple[float, float, float]:
    across = tag.horizontal_m or parameters.gnss_horizontal_m
    up = tag.vertical_m or parameters.gnss_vertical_m
    return across, across, up


def _attitudes(photos: Sequence[Photo], centre: np.ndarray) -> np.ndarray:
    """Return the gimbal's attitudes; where not reported: down, heading along the track."""
    way = np.gradient(centre[:, :2], axis=0)
    rotations = []
    for photo, (east, north) in zip(photos, way):
        reported = photo.tag.R_enu_optical
        along = camera_rotation(float(np.arctan2(north, east)), 0.5 * np.pi)
        rotations.append(along if reported is None else reported)
    return np.ascontiguousarray(np.stack(rotations))


def _features(
    photos: Sequence[Photo], parameters: BundleParameters, report: Report
) -> list[PhotoFeatures]:
    done = []

    def find(photo: Photo) -> PhotoFeatures:
        image = read_picture(photo.path, grey=True)
        found = find_features(image, scale=parameters.feature_scale, n_most=parameters.n_features)
        done.append(photo)
        report("features", len(done) / len(photos))
        return found

    return run_tasks(find, [(photo,) for photo in photos], default_thread_count())


def _tracks(
    features: list[PhotoFeatures],
    start: AdjustmentBlock,
    parameters: BundleParameters,
    report: Report,
) -> Tracks:
    """Match near pictures, estimate the surface distance from them, then match all that overlap."""
    known: dict[tuple[int, int], np.ndarray] = {}
    distance_m = 0.0
    for n_neighbours in (_NEIGHBOURS_AT_FIRST, parameters.n_neighbours):
        pairs = nearby_pairs(
            start.centre,
            start.rotation[:, :, 2],
            distance_m=distance_m,
            n_neighbours=n_neighbours,
            largest_angle_deg=parameters.largest_angle_deg,
        )
        new = [(int(i), int(j)) for i, j in pairs if (int(i), int(j)) not in known]
        _match_pairs(features, new, start.lens, parameters, known, report)
        good = {pair: m for pair, m in known.items() if len(m) >= parameters.min_matches}
        if not good:
            raise UserError(
                "no two pictures match; survey with more overlap, or let features be found in "
                "larger pictures (feature_scale)"
            )
        tracks = link_tracks(
            [f.pixels for f in features], np.array(list(good)), list(good.values()),
            n_enough=parameters.tracks_per_picture,
        )  # fmt: skip
        distance_m = _median_distance(start, tracks)
    return tracks


def _match_pairs(
    features: list[PhotoFeatures],
    pairs: list[tuple[int, int]],
    lens: np.ndarray,
    parameters: BundleParameters,
    known: dict[tuple[int, int], np.ndarray],
    report: Report,
) -> None:
    compare = partial(
        match, K=_intrinsics(lens), ratio=parameters.ratio, epipolar_px=parameters.epipolar_px
    )

    def one(i: int, j: int) -> None:
        known[i, j] = compare(features[i], features[j])
        report("matching", len(known) / max(len(known), n_all))

    n_all = len(known) + len(pairs)
    run_tasks(one, pairs, default_thread_count())


def _intrinsics(lens: np.ndarray) -> np.ndarray:
    f, cu, cv = lens[:3]
    return np.array([[f, 0.0, cu], [0.0, f, cv], [0.0, 0.0, 1.0]])


def _median_distance(start: AdjustmentBlock, tracks: Tracks) -> float:
    """Return the median distance of the points of tracks along the axes [m]."""
    points = triangulate(start, tracks)[tracks.point]
    axes = start.rotation[tracks.picture, :, 2]
    depth = np.einsum("ni,ni->n", points - start.centre[tracks.picture], axes)
    ahead = depth[depth > 0.0]
    return float(np.median(ahead)) if len(ahead) else 0.0


def _adjusted(
    block: AdjustmentBlock, tracks: Tracks, priors: Priors, parameters: BundleParameters
) -> tuple[AdjustmentBlock, Tracks]:
    """Adjust with ever stricter limits; drop outliers, then once more."""
    for limit_px in (*_COARSE_PX, parameters.huber_px):
        block = replace(block, points=triangulate(block, tracks))
        block, _ = adjust(block, tracks, priors, huber_px=limit_px, settled=_SETTLED_COARSELY)
        size = np.linalg.norm(residuals(block, tracks), axis=1)
        wide = largest_angles(block, tracks) > np.radians(parameters.smallest_angle_deg)
        worst = max(parameters.outlier_px, 2.0 * limit_px)
        tracks, retained = tracks.select((size < worst) & wide[tracks.point])
        block = replace(block, points=np.ascontiguousarray(block.points[retained]))
        if not len(tracks.picture):
            raise UserError("no point is seen well by two pictures; survey with more overlap")
    return adjust(block, tracks, priors, huber_px=parameters.huber_px)[0], tracks
