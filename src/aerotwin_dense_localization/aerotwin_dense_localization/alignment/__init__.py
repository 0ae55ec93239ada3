# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Direct alignment: where an image was taken, by its grey values against a view with depth."""

from aerotwin_dense_localization.alignment.alignment import (
    DepthImage,
    DirectAlignment,
    ImageAlignment,
)
from aerotwin_dense_localization.alignment.parameters import AlignmentParameters

# Deprecated names, which go with the next version.
View = DepthImage

__all__ = ["AlignmentParameters", "DepthImage", "DirectAlignment", "ImageAlignment"]
