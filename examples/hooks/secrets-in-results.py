#!/usr/bin/env python3
# why: keys, tokens and passwords are taken out of what tools return
# group: secrets
# needs: python3
#
# It looks before the model, the session file and any later hook do. What it cannot look
# at is withheld: an error ends with exit code 1, and onFailure=block refuses the result.
# Standard library only.
#
# hook: events=tool-call-end,tool-call-error can=modify onFailure=block timeout=5s
# hook: sensitive=true description="take secrets out of tool results"
import json
import re
import sys

SECRETS = [(kind, re.compile(pattern, re.DOTALL)) for kind, pattern in (
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("AWS key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("payment key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("Google key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("PyPI token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("password", r"(?<=://)[^/\s:@]{1,100}:[^/\s:@]{3,100}(?=@)"),
)]

# A name such as DB_PASSWORD= at the beginning of a line, as env and .env have it, or a
# quoted text with a digit after such a name in any case. Code such as
# token = read_token() is no secret.
NAME = r"[A-Za-z0-9_.-]{0,60}(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY)[A-Za-z0-9_]{0,30}"
ASSIGNED = re.compile(r"^(\s*(?:export\s+)?" + NAME + r"=)(?!\$)(\S.*)$", re.MULTILINE)
QUOTED = re.compile(r"((?i:" + NAME + r")[\"']?\s*(?:=|:|=>)\s*)([\"'])(?=[^\"'\n]*[0-9])[^\"'\n]{8,}\2")

count = 0


def clean(text):
    global count
    if not isinstance(text, str):
        raise TypeError("a text of the result is no string")
    for kind, pattern in SECRETS:
        text, n = pattern.subn("[" + kind + " taken out]", text)
        count += n
    for pattern, instead in ((ASSIGNED, r"\1[taken out]"), (QUOTED, r"\1\2[taken out]\2")):
        text, n = pattern.subn(instead, text)
        count += n
    return text


def clean_content(content):
    if isinstance(content, str):
        return clean(content)
    if not isinstance(content, list):
        raise TypeError("the content is no list")
    return [dict(part, text=clean(part["text"])) if "text" in part else part for part in content]


event = json.load(sys.stdin)
data = event["data"]
if event["event"] == "tool-call-error":
    changes = {"error": {"text": clean(data["error"]["text"])}}
else:
    changes = {"result": {"content": clean_content(data["result"]["content"])}}
if count > 0:
    print(json.dumps({"action": "modify", "changes": changes, "notice": f"{count} secret{'s'[:count > 1]} taken out of a result"}))
