# SPDX-License-Identifier: Apache-2.0
"""Widths of labels where processes fork."""

import os

from assay.report.draw import placing


def test_a_forked_process_opens_fonts_of_its_own():
    """Two that read one open file would read each other's letters."""
    placing.width("before", 9)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(placing._font.cache_info().currsize).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 8) == b"0" and placing._font.cache_info().currsize == 1
