# SPDX-License-Identifier: Apache-2.0
"""From run files to rows, and how numbers and names are said."""
