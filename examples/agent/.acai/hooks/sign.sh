#!/bin/sh
# Every file that the agent writes ends with a line that says so.
#
# hook: events=tool-call-start match.tool=write_file can=modify timeout=5s
# hook: onFailure=block description="signs what the agent writes"
set -eu
content=$("$HOOKD" get data.args.content) || exit 1
"$HOOKD" reply modify --set "data.args.content=$content
-- written by an agent
"
