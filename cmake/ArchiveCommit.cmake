# SPDX-License-Identifier: Apache-2.0
# `git archive` writes the commit here (.gitattributes), so that sources without history know theirs.
set(archived_commit "$Format:%h$")
