# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""An autopilot as a node: sensor topics in, rotor speeds out, in lockstep over the HIL link."""
