#!/bin/sh
# Tags are set by people, whatever the prompt says.
#
# hook: events=tool-call-start match.tool=@shell can=block timeout=5s
# hook: description="only people set tags"
event=$(cat) || exit 1
case $event in
*'"data":'*'git tag'*) echo '{"action":"block","reason":"tags are set by people; leave that to them"}' ;;
esac
