#!/bin/sh
# {{.Name}}: refuses a shell command that holds "forbidden".
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s
set -u

# The event is one JSON object on stdin. sh cannot parse JSON, so this looks at
# its text; where you need single values, use --lang python or node.
event=$(cat)
case $event in
*'"data":'*forbidden*) echo '{"action":"block","reason":"the word forbidden is not allowed here"}' ;;
*'"data":'*) ;; # nothing on stdout and exit 0: nothing to say
*) exit 1 ;;    # not an event: a failure, and onFailure=block refuses
esac
