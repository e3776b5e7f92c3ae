# SPDX-License-Identifier: Apache-2.0
"""The questions of the suite, and what is said of rows."""
