#!/usr/bin/env python3
# why: what a linter says of a file that was written goes to the model at once
# group: quality
# needs: python3
#
# Python, JSON and TOML are parsed; shell, JavaScript and Go by their own programs, where
# they are on PATH; ruff, shellcheck and the like say more where they are. Files outside the
# project are left alone. Standard library only.
#
# hook: events=tool-call-end match.tool=@write can=modify onFailure=continue timeout=20s
# hook: description="tell the model what a linter says of the file it wrote"
import ast
import json
import os
import shutil
import subprocess
import sys

PROGRAMS = {
    ".py": [["ruff", "check", "--quiet", "--output-format", "concise"], ["pyflakes"]],
    ".sh": [["shellcheck", "-f", "gcc"], ["sh", "-n"]], ".bash": [["shellcheck", "-f", "gcc"], ["bash", "-n"]],
    ".js": [["node", "--check"]], ".mjs": [["node", "--check"]], ".cjs": [["node", "--check"]],
    ".go": [["gofmt", "-e", "-l"]], ".rb": [["ruby", "-c"]], ".php": [["php", "-l"]], ".lua": [["luac", "-p"]],
    ".yaml": [["yamllint", "-d", "relaxed", "-f", "parsable"]], ".yml": [["yamllint", "-d", "relaxed", "-f", "parsable"]], ".tf": [["tflint"]],
}


def parsed(path, text):
    """Returns what is wrong with a text that Python can read itself, "" for nothing."""
    ending = os.path.splitext(path)[1].lower()
    try:
        if ending == ".py":
            ast.parse(text)
        elif ending == ".json":
            json.loads(text)
        elif ending == ".toml":
            import tomllib
            tomllib.loads(text)
    except ImportError:  # tomllib came with Python 3.11
        pass
    except (SyntaxError, ValueError) as e:
        return f"it does not parse: {e}"
    return ""


def linted(path, root):
    inside = path.startswith(root.rstrip(os.sep) + os.sep)
    if not inside or not os.path.isfile(path) or os.path.getsize(path) > 1 << 20:
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        said = parsed(path, file.read())
    for command in PROGRAMS.get(os.path.splitext(path)[1].lower(), []):
        if not said and shutil.which(command[0]):
            ended = subprocess.run(command + [path], cwd=root, capture_output=True, text=True, errors="replace", timeout=15)
            if ended.returncode != 0:
                said = (ended.stdout + ended.stderr).strip()[:2000] or f"{command[0]} ended with {ended.returncode}"
            break
    return f"{os.path.relpath(path, root)}: {said}" if said else ""


event = json.load(sys.stdin)
data = event["data"]
if not data["result"]["isError"]:
    root = os.path.realpath(event["project"] or event["cwd"])
    paths = [data["realPath"]] if "realPath" in data else data.get("realPaths", [])
    said = [text for text in (linted(path, root) for path in paths[:50]) if text]
    if said:
        print(json.dumps({"action": "observe", "context": "A linter says:\n" + "\n".join(said)}))
