# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file."""

from assay.plain_text import one_line

MOST = 1000  # characters; what a file quotes is cut before, so this is only met by its path


class RunFileError(Exception):
    """One line: file, field, what is wrong, how to mend it."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message, MOST))


class NotWritten(RunFileError):
    """What could not be written, and why."""
