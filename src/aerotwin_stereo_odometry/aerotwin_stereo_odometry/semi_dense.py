# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Semi-dense depth of a keyframe, refined over its neighbours.

Pixels of strong gradient are searched in the right image; neighbouring keyframes, whose baseline
is many times that of the stereo pair, then refine the depth.
"""

from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit
from aerotwin_stereo_odometry.patches import ONE
from aerotwin_stereo_odometry.stereo import search_disparities

SIZE = 7  # edge of the patches [px]
STEPS = 3  # Gauss-Newton steps on one view
STEPS_TOGETHER = 2  # on all of them
PRIOR_CELL_PX = 80  # landmarks of a cell and its neighbours bound the search
PRIOR_MARGIN_PX = 1.5
MAX_PULL_PX = 1.5  # of disparity, between the whole-pixel search and the end
MAX_OWN_PULL_PX = 0.5  # between the common optimum and that of a view alone
POSITION_FLOOR_PX = 0.2  # systematic error of a patch position


class Depths(NamedTuple):
    """Depths along the optical axis of pixels `uv` (n, 2) [px], with standard deviations [m]."""

    uv: np.ndarray
    depth: np.ndarray
    std: np.ndarray


@njit(cache=True, error_model="numpy")
def strongest_per_cell(image, cell, border, min_gradient):
    """Return (n, 2) whole pixels: the strongest gradient in each cell [px]."""
    height, width = image.shape
    rows = (height - 2 * border) // cell
    columns = (width - 2 * border) // cell
    found = np.empty((rows * columns, 2))
    n = 0
    for i in range(rows):
        for j in range(columns):
            best = min_gradient * min_gradient
            u = v = -1
            for row in range(border + i * cell, border + (i + 1) * cell):
                for column in range(border + j * cell, border + (j + 1) * cell):
                    gx = 0.5 * (image[row, column + 1] - image[row, column - 1])
                    gy = 0.5 * (image[row + 1, column] - image[row - 1, column])
                    if gx * gx + gy * gy > best:
                        best = gx * gx + gy * gy
                        u, v = column, row
            if u >= 0:
                found[n, 0] = u
                found[n, 1] = v
                n += 1
    return found[:n].copy()


@njit(cache=True, error_model="numpy")
def disparity_bounds(uv, landmark_uv, landmark_disparity, shape):
    """Return (n, 2) whole-pixel search ranges from nearby landmarks; (0, -1) without any."""
    rows = shape[0] // PRIOR_CELL_PX + 3
    columns = shape[1] // PRIOR_CELL_PX + 3
    low = np.full((rows, columns), 1e9)
    high = np.full((rows, columns), -1e9)
    for k in range(landmark_uv.shape[0]):
        i = int(landmark_uv[k, 1]) // PRIOR_CELL_PX + 1
        j = int(landmark_uv[k, 0]) // PRIOR_CELL_PX + 1
        if 1 <= i < rows - 1 and 1 <= j < columns - 1:
            for a in range(i - 1, i + 2):
                for b in range(j - 1, j + 2):
                    low[a, b] = min(low[a, b], landmark_disparity[k])
                    high[a, b] = max(high[a, b], landmark_disparity[k])
    bounds = np.zeros((uv.shape[0], 2), dtype=np.int64)
    bounds[:, 1] = -1
    for k in range(uv.shape[0]):
        i = int(uv[k, 1]) // PRIOR_CELL_PX + 1
        j = int(uv[k, 0]) // PRIOR_CELL_PX + 1
        if high[i, j] > 0.0:
            bounds[k, 0] = max(0, int(low[i, j] - PRIOR_MARGIN_PX))
            bounds[k, 1] = int(high[i, j] + PRIOR_MARGIN_PX) + 1
    return bounds


@njit(cache=True, error_model="numpy")
def _cut(reference, u, v, template, gx, gy):
    """Fill template and gradients (means removed) around a whole pixel; return their power."""
    half = SIZE // 2
    mean = mean_x = mean_y = 0.0
    k = 0
    for row in range(v - half, v + half + 1):
        for column in range(u - half, u + half + 1):
            template[k] = reference[row, column]
            gx[k] = 0.5 * (reference[row, column + 1] - reference[row, column - 1])
            gy[k] = 0.5 * (reference[row + 1, column] - reference[row - 1, column])
            mean += template[k]
            mean_x += gx[k]
            mean_y += gy[k]
            k += 1
    power = 0.0
    for k in range(SIZE * SIZE):
        template[k] -= mean / (SIZE * SIZE)
        gx[k] -= mean_x / (SIZE * SIZE)
        gy[k] -= mean_y / (SIZE * SIZE)
        power += template[k] * template[k]
    return power


@njit(cache=True, error_model="numpy")
def _transfer(T, j, camera, x, y, rho, out):
    """Project the pixel with ray (x, y, 1) at inverse depth rho; fill u, v, du/drho, dv/drho."""
    fx, fy, cx, cy = camera[0], camera[1], camera[2], camera[3]
    X = T[j, 0, 0] * x + T[j, 0, 1] * y + T[j, 0, 2] + rho * T[j, 0, 3]
    Y = T[j, 1, 0] * x + T[j, 1, 1] * y + T[j, 1, 2] + rho * T[j, 1, 3]
    Z = T[j, 2, 0] * x + T[j, 2, 1] * y + T[j, 2, 2] + rho * T[j, 2, 3]
    if Z < 0.05:
        return False
    out[0] = fx * X / Z + cx
    out[1] = fy * Y / Z + cy
    out[2] = fx * (T[j, 0, 3] - X / Z * T[j, 2, 3]) / Z
    out[3] = fy * (T[j, 1, 3] - Y / Z * T[j, 2, 3]) / Z
    return True


@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _view_terms(views, T, j, camera, x, y, rho, template, gx, gy, power, values, place, out):
    """Fill gradient, curvature in rho, correlation and pixels per unit rho of the j-th view."""
    height, width = views.shape[1:]
    half = SIZE // 2
    if not _transfer(T, j, camera, x + 1.0 / camera[0], y, rho, place):
        return False
    ax, ay = place[0], place[1]
    if not _transfer(T, j, camera, x, y + 1.0 / camera[1], rho, place):
        return False
    bx, by = place[0], place[1]
    if not _transfer(T, j, camera, x, y, rho, place):
        return False
    u, v = place[0], place[1]
    ax, ay, bx, by = ax - u, ay - v, bx - u, by - v
    reach = half * (max(abs(ax) + abs(bx), abs(ay) + abs(by))) + 1.0
    if not (u >= reach and v >= reach and u + reach < width - 1 and v + reach < height - 1):
        return False
    determinant = ax * by - ay * bx
    if determinant < 0.4 or determinant > 2.5:
        return False
    # motion per unit rho, mapped back into the reference patch
    mx = (by * place[2] - bx * place[3]) / determinant
    my = (ax * place[3] - ay * place[2]) / determinant
    mean = np.float32(0.0)
    ax, ay, bx, by = np.float32(ax), np.float32(ay), np.float32(bx), np.float32(by)
    u, v, mx, my = np.float32(u), np.float32(v), np.float32(mx), np.float32(my)
    one = np.float32(1.0)
    view, k = np.uintp(j), 0
    for row in range(-half, half + 1):
        for column in range(-half, half + 1):
            px = u + ax * np.float32(column) + bx * np.float32(row)
            py = v + ay * np.float32(column) + by * np.float32(row)
            a, b = px - np.float32(int(px)), py - np.float32(int(py))
            left, top = np.uintp(int(px)), np.uintp(int(py))
            right, bottom = left + ONE, top + ONE
            upper = (one - a) * views[view, top, left] + a * views[view, top, right]
            lower = (one - a) * views[view, bottom, left] + a * views[view, bottom, right]
            values[k] = (one - b) * upper + b * lower
            mean += values[k]
            k += 1
    mean /= np.float32(SIZE * SIZE)
    ii = it = ig = tg = gg = np.float32(0.0)
    for k in range(SIZE * SIZE):
        g = gx[k] * mx + gy[k] * my
        value = values[k] - mean
        ii += value * value
        it += value * template[k]
        ig += value * g
        tg += template[k] * g
        gg += g * g
    if it <= 0.0 or ii <= 0.0:
        return False
    out[0] = ig * power / it - tg
    out[1] = gg
    out[2] = it / np.sqrt(ii * power)
    out[3] = place[2] * place[2] + place[3] * place[3]
    return True


@njit(cache=True, error_model="numpy")
def stages(m):
    """Return (first view, last view, steps): one view after the other, then all together."""
    return [(j, j + 1, STEPS) for j in range(m)] + [(0, m, STEPS_TOGETHER)]


@njit(cache=True, error_model="numpy")
def refine_inverse_depths(
    reference, views, T_view_ref, camera, uv, rho, noise_variance, min_correlation
):
    """Refine inverse depths over ever more views; return rho and its std, NaN if rejected.

    `reference` (h, w) float32: smoothed key image [DN]. `views` (m, h, w) float32: smoothed images,
    shortest baseline first [DN]. `T_view_ref` (m, 4, 4): pose of the key camera in each view.
    `camera` (5,): fx, fy, cx, cy [px], baseline [m]. `uv` (n, 2), `rho` (n,): whole pixels [px],
    and their initial inverse depths [1/m]. `noise_variance`: of the difference of two
    images [DN^2]. `min_correlation`: least correlation in the two views of longest baseline.
    """
    n = uv.shape[0]
    m = views.shape[0]
    result = np.full((n, 2), np.nan)
    template = np.empty(SIZE * SIZE, dtype=np.float32)
    gx = np.empty(SIZE * SIZE, dtype=np.float32)
    gy = np.empty(SIZE * SIZE, dtype=np.float32)
    values = np.empty(SIZE * SIZE, dtype=np.float32)
    place = np.empty(4)
    out = np.empty(4)
    for p in range(n):
        power = _cut(reference, int(uv[p, 0]), int(uv[p, 1]), template, gx, gy)
        if power <= 0.0:
            continue
        x = (uv[p, 0] - camera[2]) / camera[0]
        y = (uv[p, 1] - camera[3]) / camera[1]
        r = rho[p]
        for first, last, n_steps in stages(m):
            for _ in range(n_steps):
                gradient = curvature = reach = 0.0
                for j in range(first, last):
                    if _view_terms(
                        views, T_view_ref, j, camera, x, y, r, template, gx, gy, power, values,
                        place, out,
                    ):  # fmt: skip
                        gradient += out[0]
                        curvature += out[1]
                        reach = max(reach, out[3])
                if curvature <= 0.0:
                    break
                limit = 1.5 / np.sqrt(reach)  # patches are linear over a pixel or so
                step = min(max(-gradient / curvature, -limit), limit)
                r += step
                if abs(step) < 0.01 * limit:
                    break
        if not r > 0.0 or abs(r - rho[p]) * camera[0] * camera[4] > MAX_PULL_PX:
            continue
        curvature = reach = 0.0
        n_good = 0
        for j in range(m):
            if _view_terms(
                views, T_view_ref, j, camera, x, y, r, template, gx, gy, power, values, place,
                out,
            ):  # fmt: skip
                own_pull = abs(out[0]) / out[1] * np.sqrt(out[3]) if out[1] > 0.0 else np.inf
                if out[2] >= min_correlation and own_pull < MAX_OWN_PULL_PX:
                    n_good += 1
                    curvature += out[1]
                    reach = max(reach, out[3])
                elif j >= m - 2:
                    n_good -= m
        if n_good >= 2 and curvature > 0.0:
            result[p, 0] = r
            result[p, 1] = np.sqrt(noise_variance / curvature + POSITION_FLOOR_PX**2 / reach)
    return result


def semi_dense_depths(
    left, right, neighbours, camera, landmark_uv, landmark_depth, *, cell_px, noise_std,
    min_correlation,
) -> Depths:  # fmt: skip
    """Return depths of a keyframe at pixels of strong gradient, one per cell.

    `left`, `right` (h, w) float32: smoothed pair of the keyframe [DN]. `neighbours`:
    (image, T_view_ref) of other keyframes, nearest first. `camera` (5,): fx, fy, cx, cy [px],
    baseline [m]. `landmark_uv` (k, 2), `landmark_depth` (k,): landmarks of the keyframe, which
    bound the search [px, m]. `noise_std`: noise of one image [DN]. `min_correlation`: matches below
    are rejected.
    """
    f_b = camera[0] * camera[4]
    uv = strongest_per_cell(left, cell_px, SIZE, 3.0 * noise_std)
    bounds = disparity_bounds(uv, landmark_uv, f_b / landmark_depth, left.shape)
    disparity = search_disparities(left, right, uv, size=SIZE, bounds=bounds)
    found = disparity > 0.0
    uv, disparity = uv[found], disparity[found]
    T_right_left = np.eye(4)
    T_right_left[0, 3] = -camera[4]
    views = np.stack([right, *[image for image, _ in neighbours]])
    poses = np.stack([T_right_left, *[T for _, T in neighbours]])
    result = refine_inverse_depths(
        left, views, poses, camera, uv, disparity / f_b, 2.0 * noise_std**2, min_correlation
    )
    good = np.isfinite(result[:, 0])
    rho, std = result[good].T
    return Depths(uv[good], 1.0 / rho, std / rho**2)
