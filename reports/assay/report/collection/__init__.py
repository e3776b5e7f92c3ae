# SPDX-License-Identifier: Apache-2.0
"""A site of all results: `python -m assay.report.collection`, which scripts/site.sh calls.

entries       the run files of a folder of results, and which of them have a report of their own
gpus          what is known of each GPU, measured or published, in one table
changes       what was measured when, and what it changed
measurements  a page of each measurement, whose address stays
pages         the pages of the site
"""
