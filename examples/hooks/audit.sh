#!/bin/sh
# why: every tool call is kept as a line of JSON in .acai/audit.jsonl
# group: watching
# needs: sh
#
# Keeps a line of JSON for every tool call: the event exactly as hookd sent it.
# An observer never delays the agent and can refuse nothing, so it needs no reply.
#
# hook: events=tool-call-start,tool-call-end,tool-call-error can=observe
# hook: onFailure=continue timeout=5s description="append every tool call to .acai/audit.jsonl"
set -eu
umask 077

# One write of one line: two hooks that append at once do not mix their lines.
event=$(cat)
printf '%s\n' "$event" >>"$HOOK_PROJECT_DIR/.acai/audit.jsonl"
