# SPDX-License-Identifier: Apache-2.0
"""`assay report`: pages, with no network and no script to run, that say what the runs found.

Each room knows those before it, and none after it:

    files <- book <- answer <- draw <- block <- family <- said <- page <- compare <- picture_files <- earlier_files
          <- site <- documents <- __main__ <- collection

files   the result files, as objects (the package `assay.files`)
book    from run files to rows: what a report says, before it is said; numbers and labels as people read them
answer  the parts of the report and their questions, and findings: what rows say
draw    figures: curves, grids of cells, their colours, SVG
block   the kinds of blocks that pages are made of, and blocks that several families make
family  a module for each family of measurements: its blocks, the questions it answers, pages of its own
said    the answers as sentences, a function of a run for each question
page    what stands on which page: the front page, a page for each part, the cases of each family, what was not run
compare what differs between runs, and the page that leads with it
picture_files  each picture of a page as files beside it
earlier_files  which files of a folder an earlier report wrote
site    sets blocks by the macros of `templates` and writes the files
documents  pages and pictures of what one command made
collection  a site of all results

Nothing but `files`, `picture_files`, `earlier_files`, `site` and commands touches the disk. A page is a list of blocks;
for each kind of block templates/blocks.html.j2 and templates/blocks.md.j2 have a macro, and there is no other way to get
something onto a page.
"""
