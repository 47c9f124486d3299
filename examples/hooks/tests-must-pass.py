#!/usr/bin/env python3
# why: after it changed files the agent stops only when the tests pass
# group: quality
# needs: python3
# option HOOKD_TEST_COMMAND: the command that runs the tests; default by what the project has: make test, go test, npm test, cargo test, pytest
#
# A failure sends the end of the output to the model, at most three times for each prompt;
# then it lets the agent stop and says so to the person. The tests have 55 seconds, because
# hooks.budget ends the hooks of an event after 60: raise both for slow ones. Standard
# library only.
#
# hook: events=tool-call-end,agent-stop can=modify onFailure=continue timeout=58s
# hook: env=HOOKD_TEST_COMMAND description="run the tests before the agent stops"
import json
import os
import shutil
import signal
import subprocess
import sys

MOST = 3
SECONDS = 55


def found(root):
    """Returns the command that runs the project's tests, "" if none is known."""
    def text(name):
        try:
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
                return file.read(1 << 20)
        except OSError:
            return ""

    def there(name):
        return os.path.exists(os.path.join(root, name))

    if any(line.startswith("test:") for line in text("Makefile").split("\n")) and shutil.which("make"):
        return "make test"
    if there("go.mod") and shutil.which("go"):
        return "go test ./..."
    try:
        scripts = json.loads(text("package.json") or "{}").get("scripts", {})
    except (ValueError, AttributeError):
        scripts = {}
    if "test" in scripts and "no test specified" not in str(scripts["test"]) and shutil.which("npm"):
        return "npm test --silent"
    if there("Cargo.toml") and shutil.which("cargo"):
        return "cargo test --quiet"
    if (there("pytest.ini") or there("tests") and there("pyproject.toml")) and shutil.which("pytest"):
        return "pytest -q"
    return ""


def run(command, root):
    """Runs the tests. Returns whether they passed, and the end of what they printed."""
    child = subprocess.Popen(["sh", "-c", command], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", start_new_session=True)
    try:
        out, _ = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return False, f"the tests took longer than {SECONDS} seconds and were ended"
    return child.returncode == 0, "\n".join(out.strip().split("\n")[-30:])[-4000:]


event = json.load(sys.stdin)
data = event["data"]
if event["event"] == "tool-call-end":
    if data["kind"] == "write" and not data["result"]["isError"]:
        print(json.dumps({"action": "observe", "state": "changed"}))
elif event["state"] == "changed":
    root = os.path.realpath(event["project"] or event["cwd"])
    command = os.environ.get("HOOKD_TEST_COMMAND") or found(root)
    passed, said = run(command, root) if command else (True, "")
    if passed:
        print(json.dumps({"action": "observe", "state": "passed"}))
    elif data["continued"] < MOST:
        print(json.dumps({"action": "continue", "reason": f"The tests fail ({command}). Repair what you changed, or say why they cannot pass.\n\n{said}"}))
    else:
        print(json.dumps({"action": "observe", "notice": f"the tests still fail ({command}), and the agent was sent back {MOST} times"}))
