# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with reconstructions, by choice and by seed: bending, noise, holes, seasons."""

from aerotwin_reconstruction.degradation.displacement import DisplacementField

__all__ = ["DisplacementField"]
