#!/usr/bin/env python3
# Refuses to write Python that does not parse. Runs in standby: Python starts and
# imports while no event is there, and the answer costs a read and a parse. All it
# does before it reads is to import, and a reply with the event's id ends its turn.
# Standard library only.
#
# hook: events=tool-call-start match.tool=@write can=block run=standby
# hook: onFailure=continue timeout=5s description="refuse to write Python that does not parse"
import ast
import json
import sys


def fault(args):
    path, text = args.get("path"), args.get("content")
    if not isinstance(path, str) or not path.endswith(".py") or not isinstance(text, str):
        return None
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as e:
        return f"{path} would not parse: {e}"
    return None


event = sys.stdin.read()
if not event:  # hookd was killed while this process waited: there is nothing to do
    sys.exit(0)
event = json.loads(event)
reason = fault(event["data"]["args"])
reply = {"id": event["id"], "action": "block" if reason else "observe"}
if reason:
    reply["reason"] = reason
print(json.dumps(reply), flush=True)
