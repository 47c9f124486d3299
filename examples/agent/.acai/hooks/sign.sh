#!/bin/sh
# Every file that the agent writes ends with a line that says so.
#
# hook: events=tool-call-start match.tool=write_file can=modify timeout=5s
# hook: onFailure=block description="signs what the agent writes"
set -eu
event=$(cat)
content=$(printf '%s' "$event" | sed -En 's/.*"content":"(([^"\\]|\\.)*)".*/\1/p')
printf '{"action":"modify","changes":{"args":{"content":"%s\\n-- written by an agent\\n"}}}\n' "${content%\\n}"
