#!/bin/sh
# A deployment is a person's decision: the agent may begin one when the person says so.
#
# hook: events=tool-call-start match.tool=@shell can=block onFailure=block timeout=5s
# hook: description="asks before a deployment"
set -eu
case $(cat) in
*'"data":'*deploy*) echo '{"action":"ask","reason":"a deployment: is now the time?"}' ;;
esac
