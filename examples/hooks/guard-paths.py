#!/usr/bin/env python3
# why: file tools stay inside the project, whatever links and .. say
# group: files
# needs: python3
#
# Refuses file tools that leave the project, by "..", by an absolute path or by a
# symbolic link. Standard library only.
#
# hook: events=tool-call-start match.tool=@read,@write can=block
# hook: onFailure=block timeout=5s description="keep file tools inside the project"
import json
import os
import sys

# What agents call the path of a file in the args of a call.
PATH_ARGS = {
    "path", "paths", "file", "files", "file_path", "filepath", "absolute_path", "notebook_path", "target_file",
    "filename", "dir", "dir_path", "directory", "source", "destination",
}


def inside(path, root):
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def paths(value):
    """Yields the paths in args, also those in lists and objects in them."""
    if isinstance(value, list):
        for item in value:
            yield from paths(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name in PATH_ARGS:
                yield from ((name, path) for path in (item if isinstance(item, list) else [item]) if path is not None)
            else:
                yield from paths(item)


def main():
    event = json.load(sys.stdin)
    data = event["data"]
    root = os.path.realpath(event["project"] or event["cwd"])
    found = list(paths(data["args"]))
    if not found and data.get("kind") == "write":
        return f"which file {data['name']} writes cannot be told; name it with path"
    for name, path in found:
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
