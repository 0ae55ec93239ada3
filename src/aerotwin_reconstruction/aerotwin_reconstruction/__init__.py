# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Reconstructions of surveyed places, and their defects.

`survey`: flights and their pictures with GNSS in EXIF; `bundle`: the poses of pictures; `dense`:
clouds; `surface`: meshes with an ortho picture; `degradation`: simulated defects. Everything is
in the map frame: x east, y north, z up, metres; `T_map_optical` is the pose of a picture.
"""

__all__ = ["bundle", "degradation", "dense", "surface", "survey"]
