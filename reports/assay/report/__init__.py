# SPDX-License-Identifier: Apache-2.0
"""`assay report`: pages, with no network and no script to run, that say what the runs found.

The way of a number through the package:

    run_file.load -> model.build -> answers, derive -> figures -> page -> site
    (files)          (rows)         (what follows)     (SVG)      (views) (HTML, Markdown)

What belongs to one part of the chip stands in a module of its own, figures included: `instructions`, `pipes`,
`tensor_cores`, `functions`, `numerics`. Nothing but `isa`, `site` and `__main__` touches the disk.
"""
