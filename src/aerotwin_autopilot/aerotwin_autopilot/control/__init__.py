# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Control: guidance, position, velocity, attitude, rate and allocation to rotors, all compiled.

The outer loops work in local axes (east, north, up), the inner ones in body axes (forward, left,
up). Beyond the limits of the rotors yaw is reduced first.
"""
