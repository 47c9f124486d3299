#!/bin/sh
# why: the model is told the date and git's state, and at the start the project's rules
# group: context
# needs: sh
# option HOOKD_RULES_FILE: the project's rules, from its root; default .acai/RULES.md
#
# At the start of a session: branch, changed files, the last commits, and the rules file if
# there is one. With every prompt of the person: date and branch. Needs only sh; git where
# the project has it.
#
# hook: events=session-start,prompt-submit match.source=user,startup,resume,fork can=modify
# hook: onFailure=continue timeout=3s env=HOOKD_RULES_FILE
# hook: description="tell the model the date, the state of git and the project's rules"
set -u
cat >/dev/null # the event is not needed

ask() { git -C "$HOOK_PROJECT_DIR" "$@" 2>/dev/null; }

branch=$(ask branch --show-current) || branch=
text="Today is $(date +%Y-%m-%d)."
[ -n "$branch" ] && text="$text The git branch is $branch."
if [ "$HOOK_EVENT" = session-start ]; then
	changed=$(ask status --short | head -n 20)
	[ -n "$changed" ] && text="$text
Not committed:
$changed"
	commits=$(ask log --oneline -n 5)
	[ -n "$commits" ] && text="$text
The last commits:
$commits"
	rules=$HOOK_PROJECT_DIR/${HOOKD_RULES_FILE:-.acai/RULES.md}
	[ -f "$rules" ] && text="$text
The rules of this project:
$(head -c 16000 "$rules")"
fi
"$HOOKD" reply observe --context "$text"
