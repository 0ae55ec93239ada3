# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Camera noise: shot noise and read noise of an 8-bit image, the same bytes for the same frame."""

import dataclasses
import functools
from statistics import NormalDist

import numpy as np
from numba import float32, njit, uint8, uint64, void

from aerotwin_core.parameters import parameter

_N_LEVELS = 65536  # one normal number from 16 random bits
_GOLDEN = 0x9E3779B97F4A7C15


@dataclasses.dataclass(frozen=True, kw_only=True)
class CameraNoiseParameters:
    """Noise of a camera in digital numbers (DN) of an 8-bit image."""

    read_noise_dn: float = parameter(
        0.0, unit="DN", minimum=0.0, text="standard deviation that does not depend on the light"
    )
    gain_dn_per_electron: float = parameter(
        0.0, unit="DN", minimum=0.0, text="shot noise variance per grey value"
    )


@functools.cache
def _normal_table() -> np.ndarray:
    """Return the normal quantiles at the middle of equal shares, scaled to unit variance."""
    half = [NormalDist().inv_cdf((i + 0.5) / _N_LEVELS) for i in range(_N_LEVELS // 2)]
    table = np.array(half + [-value for value in reversed(half)])
    return (table / table.std()).astype(np.float32)


@njit(uint64(uint64), cache=True)
def _mix(x):
    """Return 64 scrambled bits of a counter (the finaliser of SplitMix64, Steele et al. 2014)."""
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit(void(uint8[::1], float32[::1], float32[::1], uint64, uint8[::1]), cache=True, nogil=True)
def _add_noise(pixels, sigma, normals, key, out):
    """Write pixels plus noise; four pixels share the 64 bits of one counter."""
    n = pixels.shape[0]
    for group in range((n + 3) // 4):
        bits = _mix(key + uint64(group) * uint64(_GOLDEN))
        for i in range(4 * group, min(4 * group + 4, n)):
            value = float32(pixels[i])
            value += sigma[pixels[i]] * normals[bits & uint64(0xFFFF)] + float32(0.5)
            out[i] = uint8(min(float32(255.0), max(float32(0.0), value)))
            bits >>= uint64(16)


class CameraNoise:
    """The noise of the cameras of one vehicle.

    The noise of a pixel is a function of seed, camera, frame and place alone: a frame gets the
    same bytes whatever was rendered before it, and on however many threads.

    Parameters
    ----------
    parameters : CameraNoiseParameters
        Its size; see `load_preset`.
    seed : int
        Seed, not negative; give each vehicle its own (see `seed_sequence`).
    """

    def __init__(self, parameters: CameraNoiseParameters, seed: int) -> None:
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {seed}")
        self.parameters = parameters
        levels = np.arange(256, dtype=float)
        variance = parameters.read_noise_dn**2 + parameters.gain_dn_per_electron * levels
        self._sigma = np.sqrt(variance).astype(np.float32)
        self._seed = seed
        self._is_ideal = not self._sigma.any()

    def apply(self, image: np.ndarray, frame_index: int, camera_index: int) -> np.ndarray:
        """Return a noisy copy of an image, rounded and clipped to 8 bits.

        Parameters
        ----------
        image : (h, w) or (h, w, c) array of uint8
            A perfect image, linear in light.
        frame_index, camera_index : int
            Which frame of which camera; not negative.
        """
        if image.dtype != np.uint8:
            raise ValueError(f"image must be uint8, got {image.dtype}")
        if self._is_ideal:
            return image.copy()
        entropy = [self._seed, camera_index, frame_index]
        key = np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]
        out = np.empty(image.size, np.uint8)
        pixels = np.ascontiguousarray(image).reshape(-1)
        _add_noise(pixels, self._sigma, _normal_table(), key, out)
        return out.reshape(image.shape)
