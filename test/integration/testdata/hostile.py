# Runs guards to take on hostile events, all in one process, and prints the ones that let an
# event pass. Its stdin is a list of guards, each with its file and an event that it refuses.
# Each event is changed in every place: a member is left out, or another type stands there.
# Such a change may lose what the guard looks at, and must not turn its no into a yes.
import contextlib
import copy
import io
import json
import os
import runpy
import sys

OTHER = [None, 7, True, [], {}, [7], {"x": 1}]


def ask(file, text):
    """Returns what a guard makes of a text on its stdin: refused, failed or passed."""
    out, stdin = io.StringIO(), sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), encoding="utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            runpy.run_path(file, run_name="__main__")
    except SystemExit as e:
        if e.code not in (0, None):
            return "failed"
    except Exception:
        return "failed"
    finally:
        sys.stdin = stdin
    if not out.getvalue().strip():
        return "passed"
    return "refused" if json.loads(out.getvalue())["action"] in ("block", "ask", "modify") else "passed"


def places(value, way=()):
    """Yields the way to every member below a value."""
    if isinstance(value, dict):
        for name in value:
            yield way + (name,)
            yield from places(value[name], way + (name,))
    elif isinstance(value, list):
        for at in range(len(value)):
            yield way + (at,)
            yield from places(value[at], way + (at,))


def changed(event, way, value, leave_out):
    event = copy.deepcopy(event)
    at = event
    for name in way[:-1]:
        at = at[name]
    if leave_out:
        del at[way[-1]]
    else:
        at[way[-1]] = value
    return event


wrong, asked = [], 0
for guard in json.load(sys.stdin):
    file, event, harmless = guard["file"], guard["event"], guard["harmless"]
    tries = [("as it is", json.dumps(event), "refused")]
    tries += [(text or "nothing", text, "") for text in ("", "{", "[]", "null", "7", "{}", '"x"', '{"data":{}}', '{"data":{"args":null}}', json.dumps(event)[:-9])]
    for way in places(event):
        name = ".".join(str(part) for part in way)
        if name not in harmless:
            tries.append((name + " left out", json.dumps(changed(event, way, None, True)), ""))
            tries += [(name + " is " + json.dumps(other), json.dumps(changed(event, way, other, False)), "") for other in OTHER]
    for name, text, want in tries:
        asked += 1
        got = ask(file, text)
        if got == "passed" or want and got != want:
            wrong.append(os.path.basename(file) + ": " + name + ": " + got)
print(json.dumps({"asked": asked, "wrong": wrong}))
