# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What dense localisation is compared with."""

from evidence.dense_study.baselines.feature_map import FeatureMap, FeaturePose, Reference
from evidence.dense_study.baselines.features import BaselineFeatures, Detector

__all__ = ["BaselineFeatures", "Detector", "FeatureMap", "FeaturePose", "Reference"]
