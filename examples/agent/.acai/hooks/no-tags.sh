#!/bin/sh
# Tags are set by people, whatever the prompt says.
#
# hook: events=tool-call-start match.tool=@shell can=block timeout=5s
# hook: description="only people set tags"
command=$("$HOOKD" get data.args.command) || exit 1
set -f
set -- $command # as words: tabs and line ends are blanks
case "$*" in
*'git tag'*) "$HOOKD" reply block "tags are set by people; leave that to them" ;;
esac
