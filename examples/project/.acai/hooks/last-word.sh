#!/bin/sh
# Notes how each run ended, whatever ended it.
#
# hook: events=agent-end can=observe onFailure=continue timeout=5s
# hook: description="notes how each run ended in .acai/ends.txt"
set -eu
sed 's/.*"stopReason":"\([a-z]*\)".*/agent-end: \1/' >>"$HOOK_PROJECT_DIR/.acai/ends.txt"
