# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Covariances (6, 6) of poses: of position, then rotation vector, in the same axes."""

import numpy as np

from aerotwin_core.frames import FloatArray


def turned(covariance: FloatArray, R: FloatArray) -> FloatArray:
    """Return a covariance (6, 6) in other axes; R maps vectors to them."""
    B = np.kron(np.eye(2), R)
    return B @ covariance @ B.T


def positive_part(covariance: FloatArray) -> FloatArray:
    """Return a symmetric matrix without its negative part."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
