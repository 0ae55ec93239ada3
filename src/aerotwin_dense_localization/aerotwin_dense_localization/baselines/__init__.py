# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What dense localisation is compared with."""

from aerotwin_dense_localization.baselines.features import FeatureMap, FeaturePose, Reference

__all__ = ["FeatureMap", "FeaturePose", "Reference"]
