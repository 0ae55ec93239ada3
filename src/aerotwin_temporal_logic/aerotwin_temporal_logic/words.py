# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The words of the language, which no signal or event may have as a name."""

QUANTIFIERS = ("always", "never", "eventually")
POSTFIXES = ("until", "within", "after", "before", "from", "for", "at")
RELATIONS = ("<", "<=", ">", ">=")
FUNCTIONS = {"abs": "one argument", "min": "two or more", "max": "two or more"}
"""Name -> the arguments that it takes."""
RESERVED = {
    *QUANTIFIERS,
    *POSTFIXES,
    *FUNCTIONS,
    *("and", "or", "not", "implies", "is", "known", "of", "to", "s", "start", "end"),
}
