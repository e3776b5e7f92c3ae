# SPDX-License-Identifier: Apache-2.0
"""What was measured commit after commit: `history` keeps it, `changes` finds steps, `page` draws them."""
