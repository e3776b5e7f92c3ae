# SPDX-License-Identifier: Apache-2.0
import sys

from assay.gate.baseline.command import main

sys.exit(main())
