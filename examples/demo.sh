#!/bin/sh
# The demonstration: sh examples/demo.sh bin/hookd
#
# It works on a copy of examples/project in a temporary folder, with a home and a
# state folder of its own, and removes all of it at the end. It fails if what it
# shows did not really happen.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
hookd=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
box=$(mktemp -d "${TMPDIR:-/tmp}/hookd-demo.XXXXXX")
box=$(cd "$box" && pwd -P)
editor= agent=
cleanup() {
	for left in $editor $agent; do kill "$left" 2>/dev/null && wait "$left" || :; done
	rm -rf "$box"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
	bold=$(printf '\033[1;36m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else
	bold='' dim='' plain=''
fi
title() { printf '\n%s── %s%s\n' "$bold" "$1" "$plain"; }
say() { printf '%s%s%s\n' "$dim" "$1" "$plain"; }
show() {
	printf '%s$ %s%s\n' "$bold" "$1" "$plain"
	shift
	"$@"
}
check() {
	if ! eval "$2"; then
		printf 'demo: this did not happen: %s\n' "$1" >&2
		exit 1
	fi
	printf '  ok  %s\n' "$1"
}

title 'An example project, and hooks in four languages'
project=$box/project
cp -R "$here/project" "$project"
mkdir -p "$box/home" "$box/state"
for name in audit.sh guard-shell.sh project-context.sh slow.sh; do
	cp "$here/hooks/$name" "$project/.acai/hooks/"
done
optional() { # NAME INTERPRETER
	if command -v "$2" >/dev/null 2>&1; then
		cp "$here/hooks/$1" "$project/.acai/hooks/"
	else
		printf '  left out: %s (%s is not on this machine)\n' "$1" "$2"
	fi
}
optional guard-paths.py python3
optional secrets-in-results.py python3
optional repeat-guard.js node
if (cd "$here/.." && go build -o "$project/.acai/hooks/scratchpath" ./examples/hooks-go/scratchpath) 2>"$box/built"; then
	cp "$here/hooks-go/scratchpath/scratchpath.hook.yaml" "$project/.acai/hooks/"
	compiled=yes
else
	# Outside a clone, or without Go. The file tools refuse /tmp all the same.
	printf '  left out: scratchpath, which is compiled: %s\n' "$(tail -n 1 "$box/built")"
	compiled=
fi

# A version manager's python3 needs the home folder that is about to change: put
# the program behind it in front.
if python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null); then
	PATH=$(dirname "$python"):$PATH
fi

# A machine of its own: neither your hooks nor your settings take part.
cd "$project"
HOME=$box/home XDG_STATE_HOME=$box/state
export HOME XDG_STATE_HOME
unset XDG_CONFIG_HOME XDG_RUNTIME_DIR || :

ls -1 .acai/hooks | sed 's/^/  /'
say 'Nothing of a project runs before a person has seen it and allowed it.'

title 'Allowing them'
show 'hookd trust --yes house-rule.sh' "$hookd" trust --yes house-rule.sh
say 'The others the same way: hookd trust --yes'
"$hookd" trust --yes >/dev/null
show 'hookd list' "$hookd" list

title 'The agent works; each of its steps passes the hooks first'
say 'While it runs, house-rule.sh is edited and allowed again.'
(
	# The agent's fifth step waits for this.
	until grep -q 'echo release 1' .acai/audit.jsonl 2>/dev/null; do sleep 0.1; done
	sed 's/^word=.*/word=release/' .acai/hooks/house-rule.sh >"$box/edited"
	chmod +x "$box/edited"
	mv "$box/edited" .acai/hooks/house-rule.sh
	"$hookd" trust --yes .acai/hooks/house-rule.sh >"$box/trusted" 2>&1
	sleep 1 # a change is active within a second
	touch looked
) &
editor=$!
show 'hookd run "Sum up the notes" --allow bash,write --model scripted:agent.yaml' \
	"$hookd" run 'Sum up the notes' --allow bash,write --model scripted:agent.yaml
wait "$editor"
editor=

title 'The edit that was made meanwhile'
cat "$box/trusted"

title 'What really happened'
audited=$(grep -c '"tool-call-start"' .acai/audit.jsonl)
check "observed: audit.sh wrote a line for each of the $audited tool calls" '[ "$audited" -eq 6 ]'
if [ "$compiled" ]; then
	check 'modified: the file that the agent meant for /tmp is in scratch/' '[ -f scratch/summary.md ]'
	say "        $(cat scratch/summary.md)"
fi
check 'blocked:  notes/ is still there' '[ -f notes/today.md ]'
"$hookd" log >"$box/log"
check 'timed out: slow.sh, and its rule let the search go on' 'grep -q "slow.sh.*timeout\|timeout.*slow.sh" "$box/log"'
check 'edited:   the second release was refused by the new rule' 'grep -q "no release today" "$box/log"'

title 'A question, and an end that is told'
say 'A program drives the agent by lines of JSON (hookd run --json) and answers for the person.'
mkfifo "$box/in" "$box/out"
"$hookd" run --json --allow bash --model scripted:deploy.yaml <"$box/in" >"$box/out" 2>"$box/err" &
agent=$!
exec 3>"$box/in"
echo '{"prompt":"Deploy it, and watch."}' >&3
while read -r line; do
	case $line in
	*'"kind":"question"'*)
		printf '%s\n' "$line" | sed 's/.*"askedBy":"\([^"]*\)".*"command":"\([^"]*\)".*/  ?  \1 asks about: \2/'
		say '     the answer: yes, once'
		id=${line#*'"id":"'}
		echo '{"answer":{"id":"'"${id%%'"'*}"'","optionId":"allow"}}' >&3
		;;
	*'"kind":"event"'*'"event":"tool-call-start"'*'touch at-work'*)
		until [ -f at-work ]; do sleep 0.1; done
		say '     the next command is at work, and TERM comes'
		kill -TERM "$agent"
		;;
	*'"kind":"result"'*) break ;;
	esac
done <"$box/out"
exec 3>&-
wait "$agent" || :
agent=
check 'asked:    the command ran after the answer' '[ -f deployed ]'
check 'told:     the observer last-word.sh has the end that TERM made' 'grep -q "agent-end: aborted" .acai/ends.txt'
check 'ended:    the command that was at work is gone' '! ps -e -o args 2>/dev/null | grep -q "^sleep 19[.]7"'

title 'The same hooks under Claude Code'
# What Claude Code really sent once, at its hooks' standard input.
captured=$here/../protocol/dialect/hosts/testdata/claude/PreToolUse.Bash.json
if [ -f "$captured" ]; then
	sed "s|\"cwd\": \"[^\"]*\"|\"cwd\": \"$project\"|" "$captured" >"$box/harmless.json"
	sed 's|"command": "[^"]*"|"command": "rm -rf notes"|' "$box/harmless.json" >"$box/call.json"
	say 'hookd install claude writes hookd bridge into its settings. Its model wants to run:'
	grep -E '"(hook_event_name|tool_name|command)":' "$box/call.json"
	printf '%s$ hookd bridge claude PreToolUse <call.json%s\n' "$bold" "$plain"
	"$hookd" bridge claude PreToolUse <"$box/call.json" >"$box/answer"
	cat "$box/answer"
	"$hookd" bridge claude PreToolUse <"$box/harmless.json" >"$box/passed"
	check 'refused:  Claude Code is told no, with the reason of guard-shell.sh' 'grep -q "\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"rm of whole folders" "$box/answer"'
	check 'passed:   the command that it really ran (echo hi) is not refused' '! grep -q "deny" "$box/passed"'
else
	printf '  left out: %s is part of a clone\n' "$captured"
fi

# As a person can paste it: by its name where that is this program.
name=hookd
if [ "$(command -v hookd || :)" != "$hookd" ]; then
	name=\'$(printf '%s' "$hookd" | sed "s/'/'\\\\''/g")\'
	case $hookd in
	*[!A-Za-z0-9/._-]*) ;;
	*) name=$hookd ;;
	esac
fi
printf '\n%snow try:%s (in an empty folder)\n' "$bold" "$plain"
printf '  %s\n' "$name init" "$name new guard.sh" "$name test guard.sh"
