# SPDX-License-Identifier: Apache-2.0
"""Reading, comparing and reporting what `assay run` measured."""

__version__ = "0.1.0"
