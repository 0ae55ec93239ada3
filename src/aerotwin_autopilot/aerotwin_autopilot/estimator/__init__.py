# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""State estimation from the sensors alone, in local axes at the first GNSS fixes or of the vision.

An error-state Kalman filter runs at the time of the oldest measurement still under way (the age of
a GNSS fix); the present is that state carried forward through the inertial samples since.
"""
