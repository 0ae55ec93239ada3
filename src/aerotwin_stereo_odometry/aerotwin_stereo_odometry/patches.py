# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Sub-pixel alignment of small image patches, the basic measurement of the odometry.

A patch is cut from a key image, warped into the geometry of the searched image, and moved until
the difference is least (inverse compositional Gauss-Newton; gain and offset are solved in closed
form). Images are smoothed first, so that bilinear sampling is nearly free of sub-pixel bias. Pixel
centres are at integer coordinates.
"""

from typing import NamedTuple

import numpy as np

from aerotwin_core.kernel_cache import njit

STEP_DONE_PX = 0.002  # a step this small is far below the image-noise error of any patch
MIN_NOISY_CORRELATION = 0.4  # of a match whose left-over is no more than noise
NOISE_EXCESS = 1.5  # left-over variance over the expected one that is still noise
MAX_STEP_PX = 1.5  # longer steps leave the region in which the patch is linear
ONE = np.uintp(1)  # unsigned: numba does not test whether such an index counts from the end


class PatchAlignment(NamedTuple):
    """Positions of patches in an image."""

    uv: np.ndarray  # (n, 2) float64 centres of the patches [px]
    # (n, 3) float64 sum of squared template gradients (uu, uv, vv), mean removed [DN^2/px^2]
    information: np.ndarray
    variance: np.ndarray  # (n,) float64 variance of the residual [DN^2]
    # (n,) float64 Zero-mean normalised cross-correlation; -1 where nothing was found
    correlation: np.ndarray

    def is_match(self, min_correlation: float, noise_variance: float) -> np.ndarray:
        """Return which patches were found: by correlation, or as equal but for noise.

        A faint patch cannot correlate well; it is accepted if it differs by no more than the noise
        of two images.
        """
        is_noise = self.variance < NOISE_EXCESS * noise_variance
        is_clear = self.correlation >= min_correlation
        return is_clear | (is_noise & (self.correlation >= MIN_NOISY_CORRELATION))


@njit(cache=True, error_model="numpy")
def _bilinear(image, x, y):
    a, b = x - int(x), y - int(y)
    row, column = np.uintp(int(y)), np.uintp(int(x))
    top = image[row, column] * (1.0 - a) + image[row, column + ONE] * a
    bottom = image[row + ONE, column] * (1.0 - a) + image[row + ONE, column + ONE] * a
    return top * (1.0 - b) + bottom * b


@njit(cache=True, error_model="numpy")
def cut_patches(image, uv, size):
    """Return float32 patches (n, size, size), size odd, around `uv` (n, 2) [px]; NaN outside."""
    height, width = image.shape
    half = size // 2
    patches = np.full((uv.shape[0], size, size), np.nan, dtype=np.float32)
    for i in range(uv.shape[0]):
        x0 = uv[i, 0] - half
        y0 = uv[i, 1] - half
        if not (x0 >= 0.0 and y0 >= 0.0 and x0 + size < width and y0 + size < height):
            continue
        for row in range(size):
            for column in range(size):
                patches[i, row, column] = _bilinear(image, x0 + column, y0 + row)
    return patches


@njit(cache=True, error_model="numpy")
def warp_patches(patches, rows, inverse_warps, size):
    """Return templates (m, size, size): rows of patches as seen through local affine warps.

    `patches` (n, s, s) float32: key patches, larger than the template by a margin. `rows` (m,).
    `inverse_warps` (m, 2, 2) float64: offset in the key patch = inverse_warp @ offset in the
    template [px]. `size`: edge length of a template, including borders for the gradient.
    """
    n = rows.shape[0]
    edge = patches.shape[1]
    centre = edge // 2
    half = size // 2
    limit = edge - 1.001
    templates = np.empty((n, size, size), dtype=np.float32)
    for i in range(n):
        patch = patches[rows[i]]
        a, b = inverse_warps[i, 0, 0], inverse_warps[i, 0, 1]
        c, d = inverse_warps[i, 1, 0], inverse_warps[i, 1, 1]
        for row in range(size):
            for column in range(size):
                x = centre + a * (column - half) + b * (row - half)
                y = centre + c * (column - half) + d * (row - half)
                x = min(max(x, 0.0), limit)
                y = min(max(y, 0.0), limit)
                templates[i, row, column] = _bilinear(patch, x, y)
    return templates


@njit(cache=True, error_model="numpy", fastmath={"reassoc"})
def _align_one(image, template, u, v, max_iterations, is_horizontal, scratch, out):
    """Align one template; `out` receives u, v, Huu, Huv, Hvv, variance, correlation."""
    height, width = image.shape
    size = template.shape[0] - 2
    half = size // 2
    n = size * size
    gx, gy, t, values = scratch[0], scratch[1], scratch[2], scratch[3]
    for row in range(size):
        above, line, below = template[row], template[row + 1], template[row + 2]
        first = row * size
        for column in range(size):
            gx[first + column] = 0.5 * (line[column + 2] - line[column])
            gy[first + column] = 0.5 * (below[column + 1] - above[column + 1])
            t[first + column] = line[column + 1]
    mean_t = mean_x = mean_y = 0.0
    for k in range(n):
        mean_t += t[k]
        mean_x += gx[k]
        mean_y += gy[k]
    mean_t /= n
    mean_x /= n
    mean_y /= n
    huu = huv = hvv = tt = 0.0
    for k in range(n):
        gx[k] -= mean_x
        gy[k] -= mean_y
        t[k] -= mean_t
        huu += gx[k] * gx[k]
        huv += gx[k] * gy[k]
        hvv += gy[k] * gy[k]
        tt += t[k] * t[k]
    out[6] = -1.0
    determinant = huu * hvv - huv * huv
    if not (tt > 0.0 and huu > 0.0 and (is_horizontal or determinant > 1e-6 * huu * hvv)):
        return
    gain = 1.0
    for iteration in range(max_iterations + 1):
        x0 = u - half
        y0 = v - half
        if not (x0 >= 0.0 and y0 >= 0.0 and x0 + size < width and y0 + size < height):
            return
        column0 = int(x0)
        row0 = int(y0)
        fx = np.float32(x0 - column0)
        fy = np.float32(y0 - row0)
        w00 = (np.float32(1.0) - fx) * (np.float32(1.0) - fy)
        w01 = fx * (np.float32(1.0) - fy)
        w10 = (np.float32(1.0) - fx) * fy
        w11 = fx * fy
        mean = 0.0
        for row in range(size):
            top = image[row0 + row, column0 : column0 + size + 1]
            bottom = image[row0 + row + 1, column0 : column0 + size + 1]
            line = values[row * size : (row + 1) * size]
            for column in range(size):
                line[column] = (
                    w00 * top[column]
                    + w01 * top[column + 1]
                    + w10 * bottom[column]
                    + w11 * bottom[column + 1]
                )
        for k in range(n):
            mean += values[k]
        mean /= n
        ii = it = ix = iy = tx = ty = 0.0
        for k in range(n):
            value = values[k] - mean
            ii += value * value
            it += value * t[k]
            ix += value * gx[k]
            iy += value * gy[k]
            tx += t[k] * gx[k]
            ty += t[k] * gy[k]
        gain = it / tt
        if iteration == max_iterations or ii <= 0.0 or gain <= 0.0:
            break
        ex = (ix / gain) - tx
        ey = (iy / gain) - ty
        if is_horizontal:
            du = ex / huu
            dv = 0.0
        else:
            du = (hvv * ex - huv * ey) / determinant
            dv = (huu * ey - huv * ex) / determinant
        length = np.sqrt(du * du + dv * dv)
        if length > MAX_STEP_PX:
            du *= MAX_STEP_PX / length
            dv *= MAX_STEP_PX / length
        u -= du
        v -= dv
        if length < STEP_DONE_PX:
            max_iterations = iteration + 1  # one more look, for the statistics at the end point
    out[0] = u
    out[1] = v
    out[2] = huu
    out[3] = huv
    out[4] = hvv
    if ii > 0.0 and gain > 0.0:
        # residual of the template fitted to the image, in units of the template
        out[5] = max(ii - gain * it, 0.0) / (gain * gain) / (n - 4)
        out[6] = it / np.sqrt(ii * tt)


@njit(cache=True, error_model="numpy")
def _align(image, templates, uv, max_iterations, is_horizontal):
    n = templates.shape[0]
    out = np.zeros((n, 7))
    scratch = np.empty((4, templates.shape[1] * templates.shape[2]), dtype=np.float32)
    for i in range(n):
        out[i, 0] = uv[i, 0]
        out[i, 1] = uv[i, 1]
        _align_one(
            image, templates[i], uv[i, 0], uv[i, 1], max_iterations, is_horizontal, scratch, out[i]
        )
    return out


def align_patches(
    image, templates, uv, *, max_iterations=12, is_horizontal=False
) -> PatchAlignment:
    """Move templates over an image to the best fit, from a start `uv` within about 2 px.

    `image` (h, w) float32: smoothed image to search [DN]. `templates` (n, s + 2, s + 2) float32:
    templates with a border of 1 px for the gradient [DN]. `is_horizontal`: search along the row
    only (rectified stereo).

    Inverse compositional: gradients and normal matrix come from the template alone, once. Gain
    and offset between template and image are eliminated in closed form in each step.

    References: Baker and Matthews, Lucas-Kanade 20 Years On, IJCV 56(3), 2004.
    """
    start = np.ascontiguousarray(uv, dtype=np.float64)
    out = _align(image, templates, start, max_iterations, is_horizontal)
    return PatchAlignment(out[:, :2].copy(), out[:, 2:5].copy(), out[:, 5].copy(), out[:, 6].copy())
