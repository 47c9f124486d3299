#!/usr/bin/env python3
# why: a note on the desktop when a question waits and when the agent is done
# group: watching
# needs: python3
#
# Shows a note on the desktop when a question waits and when the agent is done, for a
# person who went away. For your own folder: ~/.acai/hooks. Linux needs notify-send;
# what it needs to find the desktop are the variables in "env", which hooks do not get
# by themselves: the message bus, and the X or Wayland display.
#
# hook: events=notification can=observe onFailure=continue timeout=10s
# hook: env=DBUS_SESSION_BUS_ADDRESS,DISPLAY,WAYLAND_DISPLAY,XDG_RUNTIME_DIR
# hook: description="desktop notes: a question waits, the agent is done"
import json
import shutil
import subprocess
import sys

TITLES = {"permission": "a question waits", "idle": "the agent is done"}

data = json.load(sys.stdin)["data"]
title = TITLES.get(data["kind"])
if title is None:
    sys.exit(0)
text = data["text"]
if sys.platform == "darwin":
    # The text is an argument and no part of the script: it may hold anything.
    script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
    command = ["osascript", "-e", script, title, text]
else:
    urgency = "critical" if data["kind"] == "permission" else "normal"
    # Some desktops read the text as markup.
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, name)
    command = ["notify-send", "--app-name=hookd", "--urgency=" + urgency, "--", title, text]
if shutil.which(command[0]) is None:
    sys.exit(command[0] + " is not installed")
subprocess.run(command, check=True, timeout=8)
