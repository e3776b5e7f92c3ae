# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file."""


class RunFileError(Exception):
    """One line: file, field, what is wrong, how to mend it."""
