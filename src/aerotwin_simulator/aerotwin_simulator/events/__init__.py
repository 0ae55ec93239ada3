# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What happens during a flight: faults, weather, orders, obstacles, at a time or on a condition.

`plan` reads the events of a scenario file, `engine` makes them happen in the loop, and `history`
records the signals and instants that conditions over the whole flight need.
"""
