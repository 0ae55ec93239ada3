# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Dense localisation close to a wall, as Navarro et al. tried it: map from afar, scan from near.

Here meet what does not import each other: the world and the vehicle in it (`aerotwin_simulator`),
and maps, localisation and features (`aerotwin_dense_localization`).
"""
