#!/usr/bin/env python3
# why: npm installs run without the install scripts of packages
# group: commands
# needs: python3
#
# Adds --ignore-scripts to "npm install" and "npm ci", so that a package's own
# install scripts do not run. Changes the command that really runs; the record
# keeps what it was before.
#
# hook: events=tool-call-start match.tool=@shell can=modify
# hook: onFailure=block timeout=5s description="npm installs never run package scripts"
import json
import re
import sys

INSTALL = re.compile(r"(?<![\w.-])npm\s+(?:install|i|ci|add)(?![\w-])(?!\s+--ignore-scripts)")

event = json.load(sys.stdin)
command = event["data"]["args"].get("command")
if not isinstance(command, str):
    sys.exit("args.command is not a string")

changed = INSTALL.sub(lambda found: found.group(0) + " --ignore-scripts", command)
if changed != command:
    # A merge patch: only the members it names change.
    print(json.dumps({"action": "modify", "changes": {"args": {"command": changed}}}))
