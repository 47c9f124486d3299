#!/usr/bin/env python3
# why: file tools stay away from secrets under any name, and grep shows none of their lines
# group: secrets
# needs: python3
#
# Keeps the file tools away from files such as .env, whatever a call calls them: by a
# link, by another name of the same file, in another spelling. Lines that grep found in
# such a file are taken out of what it returns. What a command does is another matter,
# see guard-shell.sh. Standard library only.
#
# hook: events=tool-call-start,tool-call-end match.tool=@read,@write can=modify
# hook: onFailure=block timeout=5s description="keep file tools away from secrets"
import fnmatch
import json
import os
import sys

SECRET = (".env", ".env.*", "*.pem", "*.key", "id_rsa", "id_ed25519")
HARMLESS = (".env.example", ".env.sample")


def secret(path):
    # Some file systems take no notice of case.
    name = os.path.basename(path).lower()
    if name in HARMLESS:
        return False
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in SECRET)


def refusal(data):
    # realPath is where all links lead, also for a file that does not exist yet;
    # otherPaths are the names in the project of a file that has several.
    real = data.get("realPath")
    if real is None:
        return "it cannot be told which file this call is about"
    for path in [real] + data.get("otherPaths", []):
        if secret(path):
            return f"{os.path.basename(path)} holds secrets; do without it"
    return None


def hidden(line, root):
    # A line of grep is path:line:text.
    if ":" not in line:
        return False
    path = os.path.join(root, line.split(":", 1)[0])
    try:
        return secret(path) or os.lstat(path).st_nlink > 1
    except OSError:
        return secret(path)


def without_secrets(event):
    root = event["project"] or event["cwd"]
    content = event["data"]["result"]["content"]
    for part in content:
        lines = part.get("text", "").split("\n")
        kept = [line for line in lines if not hidden(line, root)]
        if len(kept) < len(lines):
            part["text"] = "\n".join(kept + ["(lines of files that may hold secrets were left out)"])
    return content


event = json.load(sys.stdin)
data = event["data"]
if event["event"] == "tool-call-start":
    reason = refusal(data)
    if reason:
        print(json.dumps({"action": "block", "reason": reason}))
elif data["name"] == "grep":
    before = json.dumps(data["result"]["content"])
    after = without_secrets(event)
    if json.dumps(after) != before:
        print(json.dumps({"action": "modify", "changes": {"result": {"content": after}}}))
