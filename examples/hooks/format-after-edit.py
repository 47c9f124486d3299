#!/usr/bin/env python3
# why: a file that was written is formatted by its language's own formatter
# group: quality
# needs: python3
# option HOOKD_FORMAT_SKIP: endings that are left alone, with commas, as .md,.css
#
# The first formatter of the list below that is on PATH does it; where none is, nothing
# happens. The model is told, because the file is then another than the one it wrote. Files
# outside the project are left alone. Standard library only.
#
# hook: events=tool-call-end match.tool=@write can=modify onFailure=continue timeout=20s
# hook: env=HOOKD_FORMAT_SKIP description="format files after they were written"
import json
import os
import shutil
import subprocess
import sys

PRETTIER = [["prettier", "--write", "--log-level", "warn"]]
FORMATTERS = {
    ".go": [["goimports", "-w"], ["gofmt", "-w"]],
    ".py": [["ruff", "format", "--quiet"], ["black", "--quiet"], ["yapf", "-i"]],
    ".rs": [["rustfmt", "--edition", "2021"]],
    ".js": PRETTIER, ".jsx": PRETTIER, ".ts": PRETTIER, ".tsx": PRETTIER, ".css": PRETTIER, ".scss": PRETTIER,
    ".html": PRETTIER, ".vue": PRETTIER, ".yaml": PRETTIER, ".yml": PRETTIER, ".md": PRETTIER, ".json": PRETTIER,
    ".c": [["clang-format", "-i"]], ".h": [["clang-format", "-i"]], ".cc": [["clang-format", "-i"]], ".cpp": [["clang-format", "-i"]], ".hpp": [["clang-format", "-i"]],
    ".java": [["google-java-format", "-i"]], ".kt": [["ktlint", "-F"]], ".swift": [["swift-format", "-i"]],
    ".rb": [["rubocop", "-A", "--format", "quiet"]], ".php": [["php-cs-fixer", "fix", "--quiet"]],
    ".sh": [["shfmt", "-w"]], ".bash": [["shfmt", "-w"]], ".tf": [["terraform", "fmt"]], ".zig": [["zig", "fmt"]],
    ".lua": [["stylua"]], ".dart": [["dart", "format"]], ".ex": [["mix", "format"]], ".exs": [["mix", "format"]], ".nix": [["nixfmt"]],
}
SKIP = {ending.strip() for ending in os.environ.get("HOOKD_FORMAT_SKIP", "").split(",")}


def read(path):
    with open(path, "rb") as file:
        return file.read()


def formatted(path, root):
    """Formats a file. Returns the name of the program that changed it, or what is wrong, "" for neither."""
    ending = os.path.splitext(path)[1].lower()
    inside = path.startswith(root.rstrip(os.sep) + os.sep)
    if ending in SKIP or not inside or not os.path.isfile(path):
        return ""
    for command in FORMATTERS.get(ending, []):
        if shutil.which(command[0]):
            before = read(path)
            ended = subprocess.run(command + [path], cwd=root, capture_output=True, text=True, errors="replace", timeout=15)
            if ended.returncode != 0:
                said = (ended.stderr or ended.stdout).strip()[-1000:]
                return f"{command[0]} cannot format {os.path.relpath(path, root)}:\n{said}"
            if read(path) != before:
                return f"{os.path.relpath(path, root)} was formatted by {command[0]}: read it again before you edit it"
            return ""
    return ""


event = json.load(sys.stdin)
data = event["data"]
if not data["result"]["isError"]:
    root = os.path.realpath(event["project"] or event["cwd"])
    paths = [data["realPath"]] if "realPath" in data else data.get("realPaths", [])
    said = [text for text in (formatted(path, root) for path in paths[:50]) if text]
    if said:
        print(json.dumps({"action": "observe", "context": "\n".join(said)}))
