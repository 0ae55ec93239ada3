# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compiled parts of the spinning lidar: poses of its columns, rays, the return of each hit."""

import math

import numpy as np
from numba import boolean, float32, float64, int64, types, uint16, uint32, uint64, void

from aerotwin_core.counter_bits import GOLDEN, mix_bits
from aerotwin_core.kernel_cache import njit

RANGE, AMPLITUDE = 0, 16
"""First of the 64 random bits of a ray for the noise of its range and of its amplitude."""
MINIMUM, MAXIMUM, PER_LIMIT, PER_LIMIT_SNR, THRESHOLD, NOISE, LIMIT_NOISE, STEP, PER_STEP = range(9)
PERIOD, N_NUMBERS = 9, 10
"""Indices of the numbers of a sensor, as `Lidar` packs them."""
DIFFUSE = 0.1
"""Reflectivity of the target for which data sheets state the range limit."""
MAXIMUM_INTENSITY = 255.0
POINT_U32 = 6
"""32-bit words of a point: x y z intensity, ring (with two bytes to spare), time."""


@njit(
    void(
        int64[::1],
        float64[:, ::1],
        float64[:, ::1],
        int64[::1],
        float64[:, ::1],
        float64[:, ::1],
    ),
    cache=True,
    nogil=True,
)
def column_poses(stamps, p, q, query, out_p, out_R):
    """Write positions (n, 3) and rotations (n, 9) at the requested, non-decreasing times.

    Linear in position, along the great arc in attitude (Shoemake 1985, slerp) between two poses.
    """
    k = 0
    for c in range(len(query)):
        while k < len(stamps) - 2 and stamps[k + 1] < query[c]:
            k += 1
        u = (query[c] - stamps[k]) / (stamps[k + 1] - stamps[k])
        cosine = 0.0
        for i in range(4):
            cosine += q[k, i] * q[k + 1, i]
        sign = 1.0 if cosine >= 0.0 else -1.0
        angle = math.acos(min(1.0, abs(cosine)))
        a, b = 1.0 - u, u
        if angle > 1e-6:
            a, b = math.sin(a * angle) / math.sin(angle), math.sin(u * angle) / math.sin(angle)
        b *= sign
        x, y = a * q[k, 0] + b * q[k + 1, 0], a * q[k, 1] + b * q[k + 1, 1]
        z, w = a * q[k, 2] + b * q[k + 1, 2], a * q[k, 3] + b * q[k + 1, 3]
        scale = 2.0 / (x * x + y * y + z * z + w * w)
        out_R[c, 0], out_R[c, 1] = 1.0 - scale * (y * y + z * z), scale * (x * y - z * w)
        out_R[c, 2], out_R[c, 3] = scale * (x * z + y * w), scale * (x * y + z * w)
        out_R[c, 4], out_R[c, 5] = 1.0 - scale * (x * x + z * z), scale * (y * z - x * w)
        out_R[c, 6], out_R[c, 7] = scale * (x * z - y * w), scale * (y * z + x * w)
        out_R[c, 8] = 1.0 - scale * (x * x + y * y)
        for i in range(3):
            out_p[c, i] = (1.0 - u) * p[k, i] + u * p[k + 1, i]


@njit(
    void(float64[:, ::1], float64[:, ::1], float64[:, ::1], float64[:, ::1], float32[:, ::1]),
    cache=True,
    nogil=True,
)
def fill_rays(p, R, azimuth, elevation, rays):
    """Write the rays (n_columns n_rings, 6) in map, column by column: origin, unit direction.

    azimuth and elevation hold cosine and sine of each column and each ring.
    """
    n_rings = len(elevation)
    for c in range(len(azimuth)):
        for j in range(n_rings):
            x = elevation[j, 0] * azimuth[c, 0]
            y = elevation[j, 0] * azimuth[c, 1]
            z = elevation[j, 1]
            ray = c * n_rings + j
            for i in range(3):
                rays[ray, i] = p[c, i]
                rays[ray, 3 + i] = R[c, 3 * i] * x + R[c, 3 * i + 1] * y + R[c, 3 * i + 2] * z


@njit(cache=True, nogil=True, error_model="numpy")
def measure(distance, reflectivity, cosine, range_noise, amplitude_noise, sensor):
    """Return the reading of a surface: range [m], NaN for no return, and intensity.

    The sensor's numbers are a tuple: reference counting of an array at every call costs more than
    the whole function.
    """
    if not (sensor[MINIMUM] <= distance <= sensor[MAXIMUM]):
        return math.nan, 0.0
    sigma, gain = sensor[NOISE], 1.0
    if sensor[PER_LIMIT] > 0.0:
        if cosine <= 0.0:
            return math.nan, 0.0
        far = distance * sensor[PER_LIMIT]
        weakness = far * far * DIFFUSE / (reflectivity * cosine)
        relative_noise = weakness * sensor[PER_LIMIT_SNR]
        gain = 1.0 + relative_noise * amplitude_noise
        if gain <= sensor[THRESHOLD] * relative_noise:
            return math.nan, 0.0
        weak = sensor[LIMIT_NOISE] * weakness
        sigma = math.sqrt(sigma * sigma + weak * weak)
    distance += sigma * range_noise
    if sensor[STEP] > 0.0:
        distance = sensor[STEP] * np.rint(distance * sensor[PER_STEP])
    if not (sensor[MINIMUM] <= distance <= sensor[MAXIMUM]):
        return math.nan, 0.0
    intensity = 100.0 * reflectivity * cosine * gain
    return distance, min(MAXIMUM_INTENSITY, max(0.0, intensity))


@njit(
    int64(
        float32[:, ::1],
        float32[::1],
        float32[:, ::1],
        float32[::1],
        float64[:, ::1],
        float64[:, ::1],
        float64[:, ::1],
        types.UniTuple(float64, N_NUMBERS),
        float32[::1],
        uint64,
        boolean,
        boolean,
        float32[:, ::1],
        uint32[:, ::1],
    ),
    cache=True,
    nogil=True,
    error_model="numpy",
)
def write_returns(
    rays, ranges, normals, reflectivity, frame, azimuth, elevation, sensor, gauss, key,
    is_organised, is_deskewed, tokens, bits,
):  # fmt: skip
    """Write the points of a turn, and return how many.

    `rays` (n, 6) were cast in map, column by column; hits are `ranges` (n,) [m], infinity for none,
    unit `normals` (n, 3) in map and `reflectivity` (n,) of light. `frame` (4, 3) holds the origin
    of deskewed points in map and R_lidar_map; `azimuth`, `elevation` cosines and sines of columns
    and rings; `sensor` the numbers at `MINIMUM` and its neighbours; `gauss` (65536,) normal
    quantiles. `tokens`, `bits` (n, 6) are float32 and uint32 views of the output; organised: one
    point per ray.
    """
    n_rings, n_columns, n = len(elevation), len(azimuth), 0
    for c in range(n_columns):
        time = sensor[PERIOD] * c / n_columns
        for j in range(n_rings):
            i = c * n_rings + j
            cosine = abs(
                rays[i, 3] * normals[i, 0] + rays[i, 4] * normals[i, 1] + rays[i, 5] * normals[i, 2]
            )
            noise = mix_bits(key + uint64(i) * uint64(GOLDEN))
            distance, intensity = measure(
                float64(ranges[i]),
                float64(reflectivity[i]),
                cosine,
                gauss[uint16(noise >> uint64(RANGE))],
                gauss[uint16(noise >> uint64(AMPLITUDE))],
                sensor,
            )
            if math.isnan(distance) and not is_organised:
                continue
            k = j * n_columns + c if is_organised else n
            x = distance * elevation[j, 0] * azimuth[c, 0]
            y = distance * elevation[j, 0] * azimuth[c, 1]
            z = distance * elevation[j, 1]
            if is_deskewed:
                dx = rays[i, 0] + distance * rays[i, 3] - frame[0, 0]
                dy = rays[i, 1] + distance * rays[i, 4] - frame[0, 1]
                dz = rays[i, 2] + distance * rays[i, 5] - frame[0, 2]
                x = frame[1, 0] * dx + frame[1, 1] * dy + frame[1, 2] * dz
                y = frame[2, 0] * dx + frame[2, 1] * dy + frame[2, 2] * dz
                z = frame[3, 0] * dx + frame[3, 1] * dy + frame[3, 2] * dz
            tokens[k, 0], tokens[k, 1], tokens[k, 2], tokens[k, 3] = x, y, z, intensity
            bits[k, 4] = j
            tokens[k, 5] = time
            n += 1
    return n
