# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense visual localisation close to structures, where features are lost.

`depth`: from stereo pairs; `splats`: coloured points with covariances and the images of them;
`alignment`: where an image was taken, by its grey values against such an image; `mapping`: a map of
splats from stereo key-frames; `localization`: a camera's pose in it. Frames: x right, y down, z
forward for the optical frame of a camera or a view; `T_a_b` takes points of b to a.
"""

__all__ = ["alignment", "depth", "localization", "mapping", "splats"]
