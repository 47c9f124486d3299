#!/bin/sh
# Notes each tool call and what was decided about it, behind the agent's back.
#
# hook: events=tool-call-start,compact-end can=observe timeout=5s
# hook: description="keeps a journal of the tool calls"
cat | sed -n 's/.*"event":"\([^"]*\)".*"name":"\([^"]*\)".*"outcome":{"action":"\([^"]*\)".*/\1 \2: \3/p; s/.*"event":"\(compact-end\)".*/\1/p' >> journal.txt
