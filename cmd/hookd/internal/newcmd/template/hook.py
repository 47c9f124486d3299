#!/usr/bin/env python3
# {{.Name}}: refuses a shell command that holds "forbidden".
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s
import json
import sys

# The event is one JSON object on stdin. An exception ends with exit code 1: a
# failure, and onFailure=block refuses.
event = json.load(sys.stdin)
command = event["data"]["args"]["command"]
if not isinstance(command, str):
    sys.exit("the command is no text")  # exit code 1, too

if "forbidden" in command:
    print(json.dumps({"action": "block", "reason": "the word forbidden is not allowed here"}))
# Nothing on stdout and exit 0: nothing to say.
