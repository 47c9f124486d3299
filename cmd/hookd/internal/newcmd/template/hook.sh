#!/bin/sh
# {{.Name}}: refuses a shell command that holds "forbidden".
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s
set -u

# The event is one JSON object on stdin, which sh cannot read; hookd takes the value
# out of it. Where it cannot, exit 1 is a failure, and onFailure=block refuses.
command=$("$HOOKD" get data.args.command) || exit 1

case $command in
*forbidden*) "$HOOKD" reply block --reason "the word forbidden is not allowed here" || exit 1 ;;
esac
# Nothing on stdout and exit 0: nothing to say.
