#!/bin/sh
# Reminds the agent of the linter when it wants to stop after it changed files. It
# does so once: what it said before stands in its state.
#
# hook: events=tool-call-end,agent-stop can=modify onFailure=continue timeout=5s
# hook: description="has the agent run the linter after it changed files"
set -eu
case $HOOK_EVENT in
tool-call-end)
	kind=$("$HOOKD" get data.kind) || exit 1
	if [ "$kind" = write ]; then echo '{"action":"observe","state":"changed"}'; fi ;;
agent-stop)
	state=$("$HOOKD" get 'state?') || exit 1
	if [ "$state" = changed ]; then
		echo '{"action":"continue","reason":"Please run the linter over what you changed.","state":"reminded"}'
	fi ;;
esac
