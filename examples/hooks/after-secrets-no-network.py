#!/usr/bin/env python3
# why: once a secret was read, nothing of this session reaches the net any more
# group: network
# needs: python3
#
# A session is marked when a call reads a file such as .env or a key, by a file tool or in a
# command, when it prints the environment, and when a result holds a key or token. From
# then on calls that may use the net are refused until a new session. Standard library
# only; an error ends with exit code 1, and onFailure=block refuses.
#
# hook: events=tool-call-start,tool-call-end can=block onFailure=block timeout=5s
# hook: description="taint: after a secret was read, no network"
import fnmatch
import json
import os
import re
import sys

FILES = (".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "id_rsa", "id_ecdsa", "id_ed25519", ".netrc", ".pgpass", "credentials", "secrets.y*ml", "secrets.json")
HARMLESS = (".env.example", ".env.sample", ".env.template")
FOLDERS = re.compile(r"/\.(ssh|aws|gnupg|kube)(/|$)")
PRINTS = re.compile(r"(?:^|[\s;&|(`])(?:printenv|env\s*(?:$|[;&|>])|export\s+-p|set\s*(?:$|[;&|>])|aws\s+configure\s+(?:get|export)|gcloud\s+auth\s+print|gh\s+auth\s+token|pass\s+show|op\s+read|vault\s+(?:read|kv))")
SECRETS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{40,}|\bglpat-[A-Za-z0-9_-]{20,}|\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{20,}|\bAIza[0-9A-Za-z_-]{35}|(?m:^(?:export\s+)?[A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|API_?KEY)[A-Z0-9_]*=(?!\$|\[taken out\])\S{6})")
REACHES = re.compile(r"(?i)://|/dev/(?:tcp|udp)/|(?:^|[\s;&|(`/\"'])(?:curl|wget|https?|xh|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|socat|aria2c|lynx|mail|sendmail|mutt|dig|nslookup|host|ping|git\s+(?:\S+\s+)*?(?:push|fetch|pull|clone|ls-remote|remote|submodule)|gh|glab|hub|aws|gcloud|az|kubectl|helm|docker|podman|npm|npx|pnpm|yarn|bun|pip3?|uv|cargo|go\s+(?:get|install|mod)|gem|brew|apt|apt-get)(?:$|[\s;&|\"'])|\b(?:python3?|node|ruby|perl|php|deno)\s+(?:-\S*\s+)*-\w*[cerE]\b")


def is_secret(path):
    name = os.path.basename(path.rstrip("/")).lower()
    if name in HARMLESS:
        return False
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in FILES) or bool(FOLDERS.search(path))


def reads(data):
    """Returns what secret a call reads, "" if none shows."""
    args = data["args"]
    paths = [data["realPath"]] if "realPath" in data else list(data.get("realPaths", []))
    paths += data.get("otherPaths", [])
    paths += [args["path"]] if "path" in args else []
    paths += args.get("paths", [])
    for path in paths:
        if is_secret(path):
            return os.path.basename(path)
    command = args["command"] if data["kind"] == "shell" else args.get("command", "")
    if PRINTS.search(command):
        return "the environment"
    for word in re.split(r"[\s;&|()<>`\"'=]+", command):
        if word and is_secret(word.lstrip("@")):
            return word.lstrip("@")
    return ""


def reaches(data):
    if data["kind"] in ("shell",):
        return bool(REACHES.search(data["args"]["command"]))
    return data["kind"] not in ("read", "write", "agent")


def texts(content):
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content if "text" in part]


event = json.load(sys.stdin)
data, state = event["data"], event["state"]
if not isinstance(data["args"], dict) or not isinstance(data["kind"], str):
    sys.exit("the call has no args, or no kind")
by = "" if state is None else state["by"]
if not isinstance(by, str):
    sys.exit("what was kept cannot be read")
if event["event"] == "tool-call-end":
    if not by and any(SECRETS.search(text) for text in texts(data["result"]["content"])):
        print(json.dumps({"action": "observe", "state": {"by": "a result of " + data["name"]}, "notice": "a secret was read: this session does not reach the net any more"}))
elif by and reaches(data):
    print(json.dumps({"action": "block", "reason": f"this session has read a secret ({by}), so nothing of it may reach the net; go on without, or ask the person to start a new session"}))
elif not by:
    by = reads(data)
    if by and reaches(data):
        print(json.dumps({"action": "block", "reason": f"this reads a secret ({by}) and reaches the net in one call"}))
    elif by:
        print(json.dumps({"action": "observe", "state": {"by": by}, "notice": f"a secret is read ({by}): this session does not reach the net any more"}))
