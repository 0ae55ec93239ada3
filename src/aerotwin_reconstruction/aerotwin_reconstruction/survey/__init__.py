# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Surveys from the air: flight patterns, missions, and pictures with GNSS in their EXIF."""

from typing import TYPE_CHECKING

from aerotwin_core.lazy import lazy_exports

if TYPE_CHECKING:
    from aerotwin_reconstruction.survey.camera import SurveyCamera
    from aerotwin_reconstruction.survey.flight import (
        GNSS_PRESETS,
        CapturedShot,
        ExifGnssNoise,
        FlownTrack,
        GimbalErrors,
        fly_shots,
        shots_of_flight,
    )
    from aerotwin_reconstruction.survey.folder import Photo, read_origin, read_photos, read_truth
    from aerotwin_reconstruction.survey.mission import FlightLimits, mission_text
    from aerotwin_reconstruction.survey.pattern import PatternParameters, Shot, plan_shots
    from aerotwin_reconstruction.survey.photo import PhotoTag, read_photo_tag, write_photo
else:
    __getattr__, __dir__, __all__ = lazy_exports(__name__)
