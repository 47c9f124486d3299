#!/bin/sh
# NOT fit for standby, on purpose: it acts before it has read its event. In standby
# that happens when the process is started, which may be minutes earlier: the branch
# it looks at is the one of then, and the line it prints belongs to no event. hookd
# notices the line, starts the program again for the event, and hookd check says so;
# a look at the branch alone nobody could notice. Read first, then look: move the
# line with get to the top, and print nothing that is no answer.
#
# hook: events=tool-call-start match.tool=@shell can=block run=standby
# hook: onFailure=continue timeout=5s description="no commits on main; does things in the wrong order"
branch=$(git -C "$HOOK_PROJECT_DIR" branch --show-current 2>/dev/null)
echo "on branch ${branch:-none}"
command=$("$HOOKD" get data.args.command) || exit 1
set -f
set -- $command
case $branch:$* in
main:*"git commit"* | master:*"git commit"*) echo '{"action":"block","reason":"commit on a branch of your own, not on main"}' ;;
*) echo '{"action":"observe"}' ;;
esac
