# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""State estimation from the sensors alone, in a local east-north-up frame at the first GNSS fixes.

An error-state Kalman filter runs at the time of the oldest measurement still under way (the age of
a GNSS fix); the present is that state carried forward through the inertial samples since.
"""

from aerotwin_autopilot.estimator.filter import Estimator

__all__ = ["Estimator"]
