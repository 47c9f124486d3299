#!/bin/sh
# The house rule: which word may not stand in a shell command.
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s description="the house rule"
set -u
word=frobnicate

event=$(cat)
case $event in
*'"data":'*"$word"*) printf '{"action":"block","reason":"house rule: no %s today"}\n' "$word" ;;
*'"data":'*) ;;
*) exit 1 ;;
esac
