# SPDX-License-Identifier: Apache-2.0
"""What differs between runs beyond noise, ranked, and what agrees.

subjects  which runs are compared with which
stored    how far a case swings by itself, over all runs that are stored
figures   the figures that several of them measured, and which of these differ
causes    what is known to make them differ: clock, memory, L2, host, build
findings  many figures of one cause as one finding, and the order of findings
words     findings and facts as sentences
outlier   which of several GPUs of one name is farthest from the others
pictures  ratios over families, and the spread of many runs
pages     the page
"""
