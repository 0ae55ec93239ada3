# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Direct alignment: the pose of an image from its grey values and a view with depth."""

from aerotwin_dense_localization.alignment.alignment import (
    DepthImage,
    DirectAlignment,
    ImageAlignment,
)
from aerotwin_dense_localization.alignment.parameters import AlignmentParameters

# Deprecated names, which go with the next version.
View = DepthImage

__all__ = ["AlignmentParameters", "DepthImage", "DirectAlignment", "ImageAlignment"]
