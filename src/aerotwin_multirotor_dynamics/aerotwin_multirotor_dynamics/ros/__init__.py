# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The dynamics as a node of their own: rotor speeds in, truth and time out."""
