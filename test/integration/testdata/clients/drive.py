"""Plays jobs with the Python client: drive.py FOLDER-OF-CLIENTS; jobs on stdin, results on stdout."""
import json
import os
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import hookd  # noqa: E402


def connect(job):
    options = {"name": "driver", "timeout": job["timeout"] / 1000, "capabilities": job.get("capabilities")}
    if job.get("socket"):
        return hookd.connect(job["socket"], **options)
    return hookd.start(job["command"], grace=job["grace"] / 1000, **options)


def play(job):
    result, client = {}, None
    data = {"toolCallId": "c1", "name": "bash", "kind": "shell", "args": {"command": job["text"], "big": 2**53}, "parallel": 1}
    began = time.monotonic()
    try:
        client = connect(job)
        session = client.open(cwd=".")
        if job.get("pause"):
            home = os.environ["HOME"]
            open(home + "/waits", "w").close()
            while not os.path.exists(home + "/go"):
                time.sleep(0.01)
        event = session.begin("tool-call-start", data, step=1)
        if job.get("cancel"):
            threading.Timer(job["cancel"] / 1000, event.cancel).start()
        out = event.outcome()
        result = {"action": out.action, "refused": out.refused, "by": out.by, "reason": out.reason, "failure": out.failure,
                  "command": out.data["args"]["command"], "context": [c["text"] for c in out.context], "step": out.event["step"]}
        session.close()
    except hookd.HookdError as err:
        result = {"error": str(err), "kind": type(err).__name__, "code": err.code}
    result["took"] = int((time.monotonic() - began) * 1000)
    if client:
        result["well"] = client.close()
        try:
            client.open(cwd=".")
        except hookd.HookdError:
            result["afterClose"] = "refused"
    result["all"] = int((time.monotonic() - began) * 1000)
    return result


for line in sys.stdin:
    print(json.dumps(play(json.loads(line))), flush=True)
