#!/bin/sh
# Tells the model, with every prompt, what it would else have to ask: the date
# and the git branch. Needs only sh; git where the project has it.
#
# hook: events=prompt-submit match.source=user can=modify
# hook: onFailure=continue timeout=3s description="tell the model the date and the git branch"
set -u
cat >/dev/null # the event is not needed

branch=$(git -C "$HOOK_PROJECT_DIR" branch --show-current 2>/dev/null) || branch=
text="Today is $(date +%Y-%m-%d)."
[ -n "$branch" ] && text="$text The git branch is $branch."
"$HOOKD" reply observe --context "$text"
