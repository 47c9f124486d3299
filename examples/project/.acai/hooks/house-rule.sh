#!/bin/sh
# The house rule: which word may not stand in a shell command.
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s description="the house rule"
set -u
word=frobnicate

command=$("$HOOKD" get data.args.command) || exit 1
case $command in
*"$word"*) "$HOOKD" reply block "house rule: no $word today" || exit 1 ;;
esac
