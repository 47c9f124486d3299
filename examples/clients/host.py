"""An agent with one tool, a shell, that asks hookd before and after each call.

    python3 host.py 'ls' 'rm -rf build'

The arguments are what a model would ask for: put your model in the place of the loop.
"""

import os
import subprocess
import sys

import hookd


def shell(command: str) -> dict:
    done = subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60)
    return {"content": done.stdout.decode(errors="replace"), "isError": done.returncode != 0, "exitCode": done.returncode}


def call_tool(session: hookd.Session, number: int, command: str) -> str:
    """Run one call as the hooks allow it; returns what the model reads."""
    call = {"toolCallId": f"c{number}", "name": "bash", "kind": "shell", "args": {"command": command}}
    before = session.fire("tool-call-start", {**call, "parallel": 1}, step=number)
    obey_stop(before)
    if before.refused:
        return f"refused by {before.by}: {before.reason}"
    args = before.data["args"]
    if not isinstance(args.get("command"), str):  # a hook may have changed it
        return "refused: a hook changed the command to what is no text"
    if args != call["args"] and not before.argsHidden:
        call["original"] = call["args"]
    call["args"] = args
    replaced = before.replaced is not None
    result = before.replaced if replaced else shell(args["command"])
    after = session.fire("tool-call-end", {**call, "result": result, "durationMs": 0, "synthetic": replaced}, step=number)
    obey_stop(after)
    if after.refused:
        return f"withheld by {after.by}: {after.reason}"
    added = [note["text"] for outcome in (before, after) for note in outcome.context]
    return "\n".join([text_of(after.data["result"]["content"]), *added])


def obey_stop(outcome: hookd.Outcome) -> None:
    if outcome.action == "stop":
        sys.exit(f"stopped by {outcome.by}: {outcome.reason}")


def text_of(content: object) -> str:
    """A result's content is a text or a list of parts."""
    parts = content if isinstance(content, list) else [{"text": content}]
    return "".join(str(part.get("text", "")) for part in parts).rstrip()


with hookd.start(name="example-host") as client:
    session = client.open(cwd=os.getcwd())
    for number, command in enumerate(sys.argv[1:]):
        try:
            print(call_tool(session, number, command))
        except hookd.HookdError as err:  # the hooks could not be asked, so nothing runs
            sys.exit(f"refused: {err}")
