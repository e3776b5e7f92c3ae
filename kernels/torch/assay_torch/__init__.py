# SPDX-License-Identifier: Apache-2.0
"""assay's kernels on torch tensors, and how they compare with torch's own."""

__version__ = "0.1.0"
