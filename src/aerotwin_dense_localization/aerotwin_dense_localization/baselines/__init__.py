# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What dense localisation is compared with."""

from aerotwin_dense_localization.baselines.feature_map import FeatureMap, FeaturePose, Reference
from aerotwin_dense_localization.baselines.features import Detector, Features

__all__ = ["Detector", "FeatureMap", "FeaturePose", "Features", "Reference"]
