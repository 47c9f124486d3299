#!/usr/bin/env python3
# why: requests and commands reach only the hosts that a list names
# group: network
# needs: python3
# option HOOKD_ALLOWED_HOSTS: hosts that are allowed, with commas and *; default this machine, github.com and package registries
#
# It looks at addresses in the args of any call that may use the net, and at the hosts that
# curl, wget, ssh, git and the like are given. What a program connects to by itself it
# cannot see: for that, contain the agent. Standard library only; an error ends with exit
# code 1, and onFailure=block refuses.
#
# hook: events=tool-call-start match.tool=@net,@shell can=block onFailure=block timeout=5s
# hook: env=HOOKD_ALLOWED_HOSTS description="an allow-list of hosts"
import fnmatch
import json
import os
import re
import sys

DEFAULT = "localhost,127.0.0.1,::1,github.com,*.githubusercontent.com,pypi.org,files.pythonhosted.org,registry.npmjs.org,registry.yarnpkg.com,proxy.golang.org,sum.golang.org,crates.io,static.crates.io,index.crates.io,rubygems.org"
ALLOWED = [host.strip().lower() for host in os.environ.get("HOOKD_ALLOWED_HOSTS", DEFAULT).split(",") if host.strip()]
ADDRESS = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20})://([^\s\"'`<>|;)\\]*)")
# The programs of which a word is a host even without a scheme.
PROGRAMS = re.compile(r"(?:^|[\s;&|(`/])(curl|wget|http|https|xh|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|socat|aria2c|lynx|links|w3m)\s+([^;&|\n)]*)")
DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)")
AT_HOST = re.compile(r"(?:^|[\s\"'=])[\w.-]+@([\w.-]+):")
HOST = re.compile(r"^(?:[\w.-]+@)?((?:[a-z0-9-]+\.)+[a-z]{2,}|\d+\.\d+\.\d+\.\d+|localhost|\[[0-9a-f:]+\])(?::[\w/.-]*|/\S*)?$", re.IGNORECASE)
FILES = re.compile(r"(?i)\.(json|html?|txt|md|gz|tgz|zip|tar|xz|py|js|ts|go|sh|ya?ml|toml|csv|xml|log|pdf|png|jpe?g|svg|deb|rpm|bin|iso|out|conf|pem|key|crt)$")


def answer(action, reason):
    print(json.dumps({"action": action, "reason": reason}))
    sys.exit(0)


checked = 0


def check(host):
    global checked
    checked += 1
    host = host.strip("[]").lower().rstrip(".")
    if re.search(r"[$`{*?%]", host) or not host:
        answer("ask", "it only shows when it runs which host this reaches")
    if not any(fnmatch.fnmatchcase(host, pattern) for pattern in ALLOWED):
        answer("block", f"{host} is not among the hosts that are allowed here; ask the person, who may add it to HOOKD_ALLOWED_HOSTS")


def addresses(text):
    for found in ADDRESS.finditer(text):
        if found.group(1).lower() != "file":
            place = re.split(r"[/?#]", found.group(2), maxsplit=1)[0].rpartition("@")[2]
            check(place if place.startswith("[") and place.endswith("]") else re.sub(r":\d*$", "", place))


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


data = json.load(sys.stdin)["data"]
args, kind = data["args"], data["kind"]
if not isinstance(args, dict) or not isinstance(kind, str):
    sys.exit("the call has no args, or no kind")
for text in texts(args):
    addresses(text)
if kind == "net" and "url" in args and "://" not in args["url"]:
    check(re.split(r"[/?#:]", args["url"], maxsplit=1)[0])
if kind == "net" and not checked and not isinstance(args.get("query"), str):
    answer("ask", "it cannot be told which host this reaches")
if kind == "shell":
    command = args["command"]
    for found in DEVICE.finditer(command):
        check(found.group(1))
    for found in AT_HOST.finditer(command):
        check(found.group(1))
    for found in PROGRAMS.finditer(command):
        for word in found.group(2).split():
            word = word.strip("\"'")
            host = HOST.match(word)
            if host and not FILES.search(host.group(1)) and "://" not in word:
                check(host.group(1))
            elif re.search(r"[$`]", word) and not word.startswith("-") and "://" not in word:
                check(word)
