#!/usr/bin/env python3
# Refuses file tools that leave the project, by "..", by an absolute path or by a
# symbolic link. Standard library only.
#
# hook: events=tool-call-start match.tool=@read,@write can=block
# hook: onFailure=block timeout=5s description="keep file tools inside the project"
import json
import os
import sys

PATH_ARGS = ("path", "file", "file_path", "dir", "directory", "source", "destination")


def inside(path, root):
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def main():
    event = json.load(sys.stdin)
    args = event["data"]["args"]
    root = os.path.realpath(event["project"] or event["cwd"])
    for name in PATH_ARGS:
        path = args.get(name)
        if path is None:
            continue
        if not isinstance(path, str):
            return f"{name} must be a string"
        # realpath follows links of the part that exists, so a link that points
        # out of the project is seen even when the file behind it is new.
        where = os.path.realpath(os.path.join(event["cwd"], os.path.expanduser(path)))
        if not inside(where, root):
            return f"{path} is outside the project; use a path below {root}"
    return None


# Any error ends with exit code 1 and a trace on stderr: a failure, which
# onFailure=block turns into a refusal. The model does not read the trace.
reason = main()
if reason:
    print(json.dumps({"action": "block", "reason": reason}))
