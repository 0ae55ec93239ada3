# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense visual localisation close to structures, where feature tracking fails.

`depth`: from stereo pairs; `splats`: coloured points with covariances and their rendering;
`alignment`: the pose of an image from its grey values and such a rendering; `mapping`: a map of
splats from stereo key-frames; `localization`: a camera's pose in it. Optical frames of cameras and
views: x right, y down, z forward; `T_a_b` maps points of b to a.
"""

__all__ = ["alignment", "depth", "localization", "mapping", "splats"]
