# SPDX-License-Identifier: Apache-2.0
"""`assay report`: one page, with no network and no script to run, that says what the runs found.

The way of a number through the package:

    run_file.load -> model.build -> answers, derive -> figures -> page
    (files)          (rows)         (what follows)     (SVG)      (HTML, Markdown)

`model`, `derive` and `answers` are pure; only `page` and `__main__` touch the disk.
"""
