# SPDX-License-Identifier: Apache-2.0
"""What pages are made of."""
