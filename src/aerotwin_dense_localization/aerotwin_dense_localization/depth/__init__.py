# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Depth and its variance from stereo pairs."""

from aerotwin_dense_localization.depth.stereo import DepthMap, StereoDepth, StereoParameters

__all__ = ["DepthMap", "StereoDepth", "StereoParameters"]
