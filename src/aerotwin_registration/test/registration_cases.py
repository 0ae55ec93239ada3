# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Seeded pairs of clouds with a known motion, good and hopeless ones, and what `align` says.

    python registration_cases.py [N_SEEDS [FIRST_SEED]]

prints how often right answers are refused and wrong ones accepted.

Lidar scans of made-up places are cast from two poses, closed-form ground is sampled twice; some
sources are bent, some targets are voxel centres, and some pairs show two different places.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.frames import invert_transform, make_transform, transform_points
from aerotwin_registration import IcpProtocol, align
from aerotwin_registration.icp.similarity import fit_rigid

PLACES = ("room", "street", "forest", "pillars", "ground")
KINDS = (*PLACES, "bent", "voxels", "elsewhere")
METHODS = ("point_to_point", "point_to_plane", "gicp")
STARTS = ((0.05, 0.5), (0.3, 3.0), (1.0, 8.0), (2.0, 25.0))
"""Sigma of the start: shift along each axis [m], turn about each [deg]."""
VOXEL_M = 0.2
FIRST_SEED = 1000
_RANGE_M = 50.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """A pair and how near its truth an answer must be to count as right, and as wrong [m]."""

    kind: str
    source: np.ndarray
    target: np.ndarray
    T_target_source: np.ndarray
    voxel_m: float
    right_m: float
    wrong_m: float


def make_case(kind: str, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    right, voxel = VOXEL_M, VOXEL_M
    place = rng.choice(["street", "room"]) if kind == "bent" else kind
    place = "street" if kind == "voxels" else place
    place = rng.choice(["street", "forest", "ground"]) if kind == "elsewhere" else place
    source, target, T = _pair(place, seed)
    if kind == "bent":
        source, T, right = *_bent(source, T, rng), 0.35
    if kind == "voxels":
        target, voxel, right = np.unique(np.floor(target), axis=0) + 0.5, 0.0, 0.5
    if kind == "elsewhere":
        source, right = _pair(place, seed + 500)[0], -1.0
    return Case(
        kind=kind,
        source=source,
        target=target,
        T_target_source=T,
        voxel_m=voxel,
        right_m=right,
        wrong_m=3.0 * right,
    )


def start_of(case: Case, sigma: tuple[float, float], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    turn = Rotation.from_rotvec(rng.normal(0.0, np.radians(sigma[1]), 3)).as_matrix()
    centre = transform_points(case.T_target_source, case.source).mean(axis=0)
    about = make_transform(turn, centre - turn @ centre + rng.normal(0.0, sigma[0], 3))
    return about @ case.T_target_source


def distance_m(case: Case, T: np.ndarray) -> float:
    """Return the RMS distance of the source's points from where they belong."""
    off = transform_points(T, case.source) - transform_points(case.T_target_source, case.source)
    return float(np.sqrt(np.mean(np.sum(off**2, axis=1))))


def outcomes(seeds: range, kinds: tuple = KINDS, methods: tuple = METHODS) -> Iterator[tuple]:
    """Yield (kind, method, is_right or None between, converged, reason) of every trial."""
    for kind in kinds:
        for seed in seeds:
            case = make_case(kind, seed)
            for level, sigma in enumerate(STARTS):
                T_initial = start_of(case, sigma, 10 * seed + level)
                for method in methods:
                    protocol = IcpProtocol(
                        method=method, voxel_m=case.voxel_m, max_shift_m=1e3, max_turn_deg=180.0
                    )
                    result = align(
                        case.source,
                        case.target,
                        T_target_source_initial=T_initial,
                        protocol=protocol,
                    )
                    off = distance_m(case, result.T_target_source)
                    is_right = off < case.right_m
                    verdict = is_right if is_right or off > case.wrong_m else None
                    yield kind, method, verdict, result.converged, result.reason


def _pair(place: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    noise = rng.choice([0.01, 0.02, 0.05])
    angles = [rng.uniform(-0.3, 0.3), *rng.normal(0.0, 0.03, 2)]
    turn = Rotation.from_euler("zyx", angles).as_matrix()
    if place == "ground":
        T = make_transform(turn, [1.0, 2.0, 0.5])
        source, target = _ground_samples(rng)
        source = transform_points(invert_transform(T), source)
        return _noisy(source, noise, rng), _noisy(target, noise, rng), T
    world = _boxes(place, rng)
    here = make_transform(np.eye(3), [0.0, 0.0, 1.5])
    there = make_transform(turn, rng.uniform([-1.5, -0.45, 1.3], [1.5, 0.45, 1.7]))
    source, target = (_scan(T, world, noise, rng) for T in (there, here))
    return source, target, invert_transform(here) @ there


def _noisy(points: np.ndarray, sigma: float, rng: np.random.Generator) -> np.ndarray:
    return points + rng.normal(0.0, sigma, points.shape)


def _ground_samples(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return two samples of hills that overlap by half or more."""
    height, phase = rng.uniform(0.3, 1.0, 4), rng.uniform(0.0, 6.0, 4)
    waves = rng.uniform(0.2, 0.8, (4, 2))
    shift = np.array([20.0 * rng.uniform(0.0, 0.5), 0.0])
    clouds = []
    for low in (shift, np.zeros(2)):
        xy = rng.uniform(0.0, 20.0, (8000, 2)) + low
        clouds.append(np.column_stack([xy, np.sin(xy @ waves.T + phase) @ height]))
    return clouds[0], clouds[1]


def _bent(
    source: np.ndarray, T: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Bend a source as a drifting SLAM does; its truth is the best rigid fit."""
    along, across = rng.normal(size=(2, 3))
    along, across = along / np.linalg.norm(along), across / np.linalg.norm(across)
    phase = (source @ along) / np.abs(source).max() * np.pi + rng.uniform(0.0, 6.0)
    bent = source + rng.uniform(0.05, 0.4) * np.outer(np.sin(phase), across)
    return bent, T @ fit_rigid(bent, source)


def _boxes(place: str, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Return boxes (centre, half size, yaw) that stand on the ground."""
    if place == "room":
        boxes = [_box((0.0, 0.0), (12.0, 8.0, 3.0))]
        for _ in range(rng.integers(4, 12)):
            at, size = rng.uniform([-5.0, -3.2], [5.0, 3.2]), rng.uniform(0.3, 1.2, 3)
            if np.linalg.norm(at) > 1.2:
                boxes.append(_box(at, size, rng.uniform(0.0, 3.0)))
        return boxes
    if place == "street":
        boxes = []
        for side in (-1.0, 1.0):
            x = -50.0
            while x < 50.0:
                length, depth = rng.uniform([5.0, 5.0], [15.0, 10.0])
                at = (x + length / 2.0, side * (rng.uniform(6.0, 9.0) + depth / 2.0))
                boxes.append(_box(at, (length, depth, rng.uniform(4.0, 12.0))))
                x += length + rng.uniform(0.0, 4.0)
        for x in rng.uniform(-40.0, 40.0, 12):
            boxes.append(_box((x, rng.choice([-4.0, 4.0])), (4.0, 1.8, 1.5), rng.normal(0, 0.05)))
        return boxes
    if place == "forest":
        trunks = rng.uniform(-25.0, 25.0, (80, 2))
        trunks = trunks[np.linalg.norm(trunks, axis=1) > 2.0]
        return [_box(at, (*rng.uniform(0.2, 0.8, 2), 8.0), rng.uniform(0, 3)) for at in trunks]
    walls = [_box((0.0, side * 6.0), (160.0, 0.2, 4.0)) for side in (-1.0, 1.0)]
    rows = [(4.0 * i, side * 3.0) for i in range(-10, 11) for side in (-1.0, 1.0)]
    return walls + [_box(at, (0.6, 0.6, 4.0)) for at in rows]


def _box(at: tuple, size: tuple, yaw: float = 0.0) -> tuple[np.ndarray, np.ndarray, float]:
    half = np.array(size, dtype=float) / 2.0
    return np.array([*at, half[2]], dtype=float), half, yaw


def _scan(T: np.ndarray, boxes: list, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Return what a lidar of 32 x 512 beams at T sees of the ground and the boxes."""
    elevation = np.radians(np.linspace(-25.0, 25.0, 32))[:, None]
    azimuth = np.linspace(0.0, 2.0 * np.pi, 512, endpoint=False)
    beams = np.stack(
        np.broadcast_arrays(
            np.cos(elevation) * np.cos(azimuth),
            np.cos(elevation) * np.sin(azimuth),
            np.sin(elevation),
        ),
        axis=-1,
    ).reshape(-1, 3)
    directions, eye = beams @ T[:3, :3].T, T[:3, 3]
    with np.errstate(all="ignore"):
        distance = np.where(directions[:, 2] < 0.0, -eye[2] / directions[:, 2], np.inf)
        for box in boxes:
            distance = np.minimum(distance, _to_box(eye, directions, *box))
    seen = distance < _RANGE_M
    measured = distance[seen] + rng.normal(0.0, noise, np.count_nonzero(seen))
    return beams[seen] * measured[:, None]


def _to_box(
    eye: np.ndarray, directions: np.ndarray, centre: np.ndarray, half: np.ndarray, yaw: float
) -> np.ndarray:
    """Return the distance to a box along each direction (Kay and Kajiya 1986), inside or out."""
    R = Rotation.from_euler("z", yaw).as_matrix()
    start, along = (eye - centre) @ R, directions @ R
    first, second = (-half - start) / along, (half - start) / along
    enter = np.nanmax(np.minimum(first, second), axis=1)
    leave = np.nanmin(np.maximum(first, second), axis=1)
    hit = np.where((np.abs(start) < half).all(), leave, enter)
    return np.where((leave >= enter) & (hit > 1e-3), hit, np.inf)


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    first = int(sys.argv[2]) if len(sys.argv) > 2 else FIRST_SEED
    counts: dict[tuple[str, str], list[int]] = {}
    for kind, method, is_right, converged, reason in outcomes(range(first, first + n_seeds)):
        row = counts.setdefault((kind, method), [0, 0, 0, 0, 0])
        if is_right is None:
            row[4] += 1
            continue
        row[0 if is_right else 2] += 1
        if is_right != converged:
            row[1 if is_right else 3] += 1
            print("!", kind, method, "right" if is_right else "wrong", reason, flush=True)
    print("kind, method: right, of these refused; wrong, of these accepted; between")
    for (kind, method), row in counts.items():
        print(f"{kind} {method}: {row[0]}, {row[1]}; {row[2]}, {row[3]}; {row[4]}")
    print("all:", [sum(column) for column in zip(*counts.values(), strict=True)])


if __name__ == "__main__":
    main()
