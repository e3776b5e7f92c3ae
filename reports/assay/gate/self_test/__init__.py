# SPDX-License-Identifier: Apache-2.0
"""How often the gate is right, on this machine: `trial` measures it, `figures` counts, `command` says it."""
