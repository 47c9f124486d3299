#!/bin/sh
# Reminds the agent of the linter when it wants to stop after it changed files. It
# does so once: what it said before stands in its state.
#
# hook: events=tool-call-end,agent-stop can=modify onFailure=continue timeout=5s
# hook: description="has the agent run the linter after it changed files"
set -eu
event=$(cat)
case $event in
*'"event":"tool-call-end"'*'"kind":"write"'*) echo '{"action":"observe","state":"changed"}' ;;
*'"event":"agent-stop"'*'"state":"changed"'*)
	echo '{"action":"continue","reason":"Please run the linter over what you changed.","state":"reminded"}' ;;
esac
