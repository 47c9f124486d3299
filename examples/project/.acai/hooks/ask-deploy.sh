#!/bin/sh
# A deployment is a person's decision: the agent may begin one when the person says so.
#
# hook: events=tool-call-start match.tool=@shell can=block onFailure=block timeout=5s
# hook: description="asks before a deployment"
command=$("$HOOKD" get data.args.command) || exit 1
case $command in
*deploy*) "$HOOKD" reply ask "a deployment: is now the time?" || exit 1 ;;
esac
