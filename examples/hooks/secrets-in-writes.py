#!/usr/bin/env python3
# why: a file or command with a key, token or private key in it is refused
# group: secrets
# needs: python3
#
# All texts of a call are looked at, whatever the tool calls them, but for the text that an
# edit takes away. A made-up value passes if it holds the word EXAMPLE. Standard library
# only; an error ends with exit code 1, and onFailure=block refuses.
#
# hook: events=tool-call-start match.tool=@write,@shell can=block onFailure=block timeout=5s
# hook: description="refuse to write secrets"
import json
import re
import sys

SECRETS = [(kind, re.compile(pattern)) for kind, pattern in (
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[A-Za-z0-9+/=\\]{16}"),
    ("an AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("an API key", r"\bsk-[A-Za-z0-9_-]*[0-9][A-Za-z0-9_-]{19,}"),
    ("a payment key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a PyPI token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("a web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a password", r"(?i)(?:secret|token|passw(?:or)?d|api_?key|access_?key)\w{0,20}[\"']?\s*(?:=|:|:=|=>)\s*[\"'](?=[^\"'\s]*[0-9])(?=[^\"'\s]*[A-Za-z])[^\"'\s$<>{}()]{16,}[\"']"),
)]
TAKEN_AWAY = {"oldText", "old_string", "old_str", "oldString"}


def texts(value):
    """Yields every string in args, but for what an edit takes away."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in TAKEN_AWAY:
                yield from texts(item)


args = json.load(sys.stdin)["data"]["args"]
if not isinstance(args, dict) or not args:
    sys.exit("the call has no args that could be looked at")
for name in ("content", "newText", "command"):
    if name in args and not isinstance(args[name], str):
        sys.exit(name + " is no text")
if not any(texts(args)):
    sys.exit("the call has no text that could be looked at")
for text in texts(args):
    for kind, pattern in SECRETS:
        for found in pattern.finditer(text):
            if "EXAMPLE" not in found.group(0).upper():
                print(json.dumps({"action": "block", "reason": f"this holds what looks like {kind}; read it from the environment or a secret store, and write the name instead"}))
                sys.exit(0)
