# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The words of the language, which no signal or event may have as a name."""

QUANTIFIERS = ("always", "never", "eventually")
POSTFIXES = ("until", "within", "after", "before", "from", "for", "at")
RELATIONS = ("<", "<=", ">", ">=")
DISTANCE = "distance_to"
"""A function of two or three coordinates; before it may stand the name of a vehicle."""
POSITION = ("east_m", "north_m", "up_m")
"""The signals from which it is counted."""
FUNCTIONS = {
    "abs": "one argument",
    "min": "two or more",
    "max": "two or more",
    DISTANCE: "two or three",
}
"""Name -> the arguments that it takes."""
RESERVED = {
    *QUANTIFIERS,
    *POSTFIXES,
    *FUNCTIONS,
    *("and", "or", "not", "implies", "is", "known", "of", "to", "s", "start", "end"),
}
