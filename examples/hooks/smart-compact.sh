#!/bin/sh
# Has the conversation summed up when more than 70 % of the model's window is used,
# sooner than the built-in feature does it (agent.compaction.threshold).
#
# hook: events=step-stop can=modify onFailure=continue timeout=5s
# hook: description="asks for the recipe compact at 70 % of the window"
set -eu
values=$("$HOOKD" get used='usage.contextTokens?' most='usage.contextMax?') || exit 1 # empty where unknown
eval "$values"
if [ "${most:-0}" -gt 0 ] && [ $((${used:-0} * 100)) -gt $((most * 70)) ]; then
	echo '{"action":"callback","callback":{"name":"compact"}}'
fi
