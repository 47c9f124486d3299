#!/usr/bin/env python3
# why: pushes to main, master and release branches are for people; other branches pass
# group: commands
# needs: python3, git
# option HOOKD_PROTECTED_BRANCHES: branches that nobody but a person pushes to, with commas and *; default main,master,trunk,release/*
#
# hookd asks it about lines that run git push, behind wrappers too. Where a push names no
# branch, git says which one it would be; what cannot be told is asked. Standard library
# only; an error ends with exit code 1, and onFailure=block refuses.
#
# hook: events=tool-call-start match.command="git push *" can=block onFailure=block timeout=10s
# hook: env=HOOKD_PROTECTED_BRANCHES description="refuse pushes to protected branches"
import fnmatch
import json
import os
import re
import shlex
import subprocess
import sys

PROTECTED = [name.strip() for name in os.environ.get("HOOKD_PROTECTED_BRANCHES", "main,master,trunk,release/*").split(",") if name.strip()]
# Options of git and of git push that take the next word.
GIT_VALUES = {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}
PUSH_VALUES = {"-o", "--push-option", "--repo", "--receive-pack", "--exec"}
ALL = {"--all", "--mirror", "--branches"}


def answer(action, reason):
    print(json.dumps({"action": action, "reason": reason}))
    sys.exit(0)


def protected(branch):
    return any(fnmatch.fnmatchcase(branch, pattern) for pattern in PROTECTED)


def pushes(line, depth=0):
    """Yields, for each push in the line, git's folders and the words after push."""
    for part in re.split(r"[;&|\n()`]+", line):
        words = shlex.split(part, comments=True)
        for at, word in enumerate(words):
            if os.path.basename(word) == "git":
                folders, rest = [], words[at + 1:]
                while rest and rest[0].startswith("-"):
                    option = rest.pop(0)
                    value = rest.pop(0) if option in GIT_VALUES and rest else ""
                    if option == "-C":
                        folders.append(value)
                if rest and rest[0] == "push":
                    yield folders, rest[1:]
                    break
            elif depth < 3 and "push" in word and re.search(r"\s", word):
                yield from pushes(word, depth + 1)


def current(cwd, folders):
    """Returns the branch that a push without one would push to, None if git cannot say."""
    where = os.path.join(cwd, *folders)
    for command, cut in ((["rev-parse", "--abbrev-ref", "@{push}"], True), (["symbolic-ref", "--short", "HEAD"], False)):
        told = subprocess.run(["git", "-C", where] + command, capture_output=True, text=True, timeout=8)
        name = told.stdout.strip()
        if told.returncode == 0 and name:
            return name.partition("/")[2] if cut else name
    return None


def judge(cwd, folders, words):
    named, after = [], False
    while words:
        word = words.pop(0)
        if after or not word.startswith("-") or word == "-":
            named.append(word)
        elif word == "--":
            after = True
        elif word in ALL:
            answer("block", f"git push {word} pushes protected branches too; name one branch")
        elif word in PUSH_VALUES and words:
            words.pop(0)
    for word in named:
        if re.search(r"[$`*?\[{]", word):
            answer("ask", f"it only shows when it runs what this pushes: {word}")
    targets = []
    for word in named[1:]:
        source, to, target = word.lstrip("+").rpartition(":")
        if to and not target and not source or word in ("tag",):
            answer("ask", "this push is about more than one branch")
        if target in ("HEAD", "@"):
            target = None
        targets.append(target)
    for target in targets or [None]:
        if target is None:
            target = current(cwd, folders)
            if target is None:
                answer("block", "it cannot be told which branch this pushes to; name it: git push origin BRANCH")
        target = re.sub(r"^refs/heads/", "", target)
        if protected(target):
            answer("block", f"a person pushes to {target}; push a branch of your own and say what it holds")


event = json.load(sys.stdin)
command, cwd = event["data"]["args"]["command"], event["cwd"]
if not isinstance(command, str) or not isinstance(cwd, str):
    sys.exit("the event has no command, or no folder")
try:
    found = list(pushes(command))
except ValueError:
    found = []
if not found:
    answer("ask", "the line seems to push, and it cannot be told where to")
for folders, words in found:
    judge(cwd, folders, words)
