# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight as a file that is kept: a page, a video, a picture."""
