# SPDX-License-Identifier: Apache-2.0
"""What stands on which page."""
