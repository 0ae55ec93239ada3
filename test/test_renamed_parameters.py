# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Files with the old names of parameters are read for one version."""

import pytest

from aerotwin_core.parameters import load_parameters
from aerotwin_dense_localization.localization import LocalizationParameters
from aerotwin_dense_localization.mapping import MapParameters
from aerotwin_reconstruction.bundle.parameters import BundleParameters
from aerotwin_reconstruction.dense.parameters import DenseParameters
from aerotwin_reconstruction.surface.heights import SurfaceParameters
from aerotwin_reconstruction.survey import GimbalErrors
from aerotwin_sensor_models.optical_flow import OpticalFlowParameters
from aerotwin_sensor_models.range_finder import RangeFinderParameters
from aerotwin_teach_repeat.localization import OdometryParameters
from aerotwin_teach_repeat.localization.relocalization import RelocalizationProtocol
from aerotwin_tiles.fetch import HttpSettings


@pytest.mark.parametrize(
    ("cls", "old", "new", "value"),
    [
        (LocalizationParameters, "n_kept_views", "n_cached_views", 3),
        (MapParameters, "slack", "depth_tolerance", 0.01),
        (MapParameters, "alike_dn", "colour_tolerance_dn", 9.0),
        (MapParameters, "finer", "max_pixel_ratio", 0.5),
        (MapParameters, "steepest", "max_depth_slope", 2.0),
        (BundleParameters, "fewest_matches", "min_matches", 30),
        (DenseParameters, "narrowest", "min_baseline_ratio", 0.1),
        (DenseParameters, "widest", "max_baseline_ratio", 0.5),
        (DenseParameters, "best", "preferred_baseline_ratio", 0.3),
        (DenseParameters, "least_contrast", "min_contrast_dn", 2.0),
        (DenseParameters, "fewest_points", "min_points", 2),
        (DenseParameters, "least_share", "min_share", 0.2),
        (SurfaceParameters, "steepest_deg", "max_tilt_deg", 20.0),
        (GimbalErrors, "held_deg", "pointing_error_deg", 2.0),
        (GimbalErrors, "told_deg", "attitude_error_deg", 2.0),
        (RangeFinderParameters, "least_m", "min_range_m", 0.1),
        (RangeFinderParameters, "most_m", "max_range_m", 30.0),
        (OpticalFlowParameters, "least_m", "min_range_m", 0.1),
        (OpticalFlowParameters, "most_m", "max_range_m", 20.0),
        (OpticalFlowParameters, "largest_rad_s", "max_flow_rad_s", 5.0),
        (OdometryParameters, "keep_voxel_m", "scan_voxel_m", 0.4),
        (RelocalizationProtocol, "apart_m", "min_separation_m", 2.0),
        (RelocalizationProtocol, "apart_deg", "min_separation_deg", 20.0),
        (HttpSettings, "n_tries", "n_attempts", 2),
        (HttpSettings, "longest_wait_s", "max_wait_s", 5.0),
    ],
)
def test_a_file_with_an_old_name_is_read_with_a_warning(cls, old, new, value):
    with pytest.warns(FutureWarning, match=f"'{old}' is called '{new}' now"):
        loaded = load_parameters(cls, {old: value}, where="old.yaml")
    assert getattr(loaded, new) == value
