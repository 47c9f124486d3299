#!/usr/bin/env python3
# why: commit messages say what was done, in a first line that fits, and skip no checks
# group: quality
# needs: python3
# option HOOKD_COMMIT_PATTERN: a regular expression that the first line must match, for example `^(feat|fix|docs): `
# option HOOKD_COMMIT_LENGTH: the longest first line; default 72
#
# It reads -m, --message and a here-document in them. A message that is in a file or in an
# editor is not looked at. Standard library only; an error ends with exit code 1, and
# onFailure=block refuses.
#
# hook: events=tool-call-start match.command="git commit *" can=block onFailure=block timeout=5s
# hook: env=HOOKD_COMMIT_PATTERN,HOOKD_COMMIT_LENGTH description="rules for commit messages"
import json
import os
import re
import shlex
import sys

PATTERN = os.environ.get("HOOKD_COMMIT_PATTERN", "")
LONGEST = int(os.environ.get("HOOKD_COMMIT_LENGTH") or 72)
SAYS_NOTHING = re.compile(r"(?i)^(wip|fix(es|ed)?|updates?|changes?|misc|stuff|tmp|temp|test|commit|initial|more|minor|cleanup|work)[.!]*$")
HERE = re.compile(r"\$\(\s*cat\s+<<-?\s*['\"]?(\w+)['\"]?\n(.*?)\n\s*\1\s*\n?\s*\)", re.DOTALL)


def block(reason):
    print(json.dumps({"action": "block", "reason": reason}))
    sys.exit(0)


def messages(command):
    """Returns the messages that the line gives, the first one first, and whether it skips checks."""
    texts = []

    def keep(found):
        texts.append(found.group(2))
        return "\x00" + str(len(texts) - 1) + "\x00"

    words = shlex.split(HERE.sub(keep, command), comments=False)
    found, skips, seen = [], False, False
    for at, word in enumerate(words):
        if word == "commit":
            seen = True
        if not seen:
            continue
        short = re.match(r"^-[a-zA-Z]*m(.*)$", word, re.DOTALL)
        if word == "--message" or short and not short.group(1):
            found += words[at + 1:at + 2]
        elif word.startswith("--message="):
            found.append(word[len("--message="):])
        elif short and not word.startswith("--"):
            found.append(short.group(1))
        skips = skips or word in ("-n", "--no-verify") or bool(re.match(r"^-[ac-ln-zA-Z]*n[a-zA-Z]*$", word))
    return [re.sub("\x00(\\d+)\x00", lambda m: texts[int(m.group(1))], text) for text in found], skips


command = json.load(sys.stdin)["data"]["args"]["command"]
if not isinstance(command, str):
    sys.exit("the command is no text")
try:
    said, skips = messages(command)
except ValueError as e:
    block(f"the message cannot be read ({e}); give it with -m and quotes")
if skips:
    block("--no-verify skips the repository's own checks; run them, and commit when they pass")
if said and "$" not in said[0]:
    first = said[0].strip().split("\n")[0].strip()
    if not first:
        block("the message is empty; say what was done")
    if len(first) > LONGEST:
        block(f"the first line has {len(first)} characters; write at most {LONGEST}, and the rest below an empty line")
    if SAYS_NOTHING.match(first):
        block(f"{first!r} does not say what was done")
    if first.endswith("."):
        block("the first line is a title: leave the full stop out")
    if PATTERN and not re.search(PATTERN, first):
        block(f"the first line does not match {PATTERN}")
