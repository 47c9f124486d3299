"""A client of hookd for agents in Python 3.9 or later, in one file, without dependencies.

    with hookd.start(name="my-agent") as client:
        session = client.open(cwd=os.getcwd())
        outcome = session.fire("tool-call-start", {
            "toolCallId": "c1", "name": "bash", "kind": "shell",
            "args": {"command": "ls"}, "parallel": 1})
        if outcome.refused:
            return outcome.reason
        args = outcome.data["args"]

Nothing passes by mistake: every call that has no whole, readable answer raises HookdError,
whether the daemon died, hangs, writes garbage or refuses the request. At a gate treat that
as a refusal. host.py is a complete agent. The protocol is docs/daemon.md of hookd.

All methods may be called from several threads.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import queue
import socket
import stat
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence

VERSION = 1  # of the protocol
ACTIONS = ("observe", "block", "modify", "ask", "allow", "stop", "continue", "callback")
LINE = 128 << 20  # the longest answer in bytes


class HookdError(Exception):
    """There is no outcome. Where the daemon answered with an error, code and data are its."""

    def __init__(self, text: str, code: Optional[int] = None, data: Any = None):
        super().__init__(text)
        self.code = code
        self.data = data


class HookdTimeout(HookdError):
    """The caller's time was over. The daemon was told to end the hooks of the event."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the hooks decided together: the table "outcome" of docs/daemon.md.

    Obey action; whatever it is, go on with event, and give context to the model and
    notices to the person. A replaced value takes the place of the work itself.
    """

    action: str  # the strongest answer, one of ACTIONS
    by: Optional[str]  # the hook that gave it
    reason: str  # what the model and the person read
    event: Dict[str, Any]  # final
    context: List[Dict[str, Any]]  # {"hook", "text"}, for the model
    notices: List[Dict[str, Any]]  # {"hook", "text"}, for the person
    messages: List[Dict[str, Any]]  # to add, where the run goes on
    callback: Optional[Dict[str, Any]]  # the recipe to run
    generation: int  # of the set of hooks that decided
    runs: List[Dict[str, Any]]  # of the hooks that took part
    failure: Optional[str] = None  # set when a failure's rule decided, not an answer
    byExit: bool = False
    answered: Optional[Dict[str, Any]] = None  # who answered, if a person was to be asked
    replaced: Any = None  # the result or response in place of the work itself
    replacedBy: str = ""
    lost: List[str] = dataclasses.field(default_factory=list)  # what the host cannot carry out
    argsHidden: bool = False  # do not send the model's own args as data.original

    @property
    def refused(self) -> bool:
        """The event must not take effect. An ask is refused until a person has allowed it."""
        return self.action in ("block", "stop", "ask")

    @property
    def data(self) -> Dict[str, Any]:
        """The data to go on with."""
        return self.event["data"]


def start(command: Sequence[str] = ("hookd", "serve"), *, cwd: Optional[str] = None,
          env: Optional[Dict[str, str]] = None, grace: float = 12, **options: Any) -> Client:
    """Start a daemon of our own. It ends with close, or when this process ends.

    grace is how long close waits for it before it kills it; its own end takes up to 10
    seconds. The options are those of Client.
    """
    flags: Dict[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP} if os.name == "nt" else {"start_new_session": True}
    try:
        process = subprocess.Popen(list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   bufsize=0, cwd=cwd, env=env, **flags)  # its own session: Ctrl-C is ours
    except OSError as err:
        raise HookdError(f"cannot start {command[0]}: {err}") from err
    stdin = process.stdin
    assert stdin is not None and process.stdout is not None

    def send(line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[stdin.write(rest):]

    def end(deadline: float) -> bool:
        try:
            process.wait(max(deadline - time.monotonic(), 0.1))
            return process.returncode == 0
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return False

    return Client(process.stdout, send, stdin.close, end, grace=grace, shutdown=True, **options)


def connect(path: str, **options: Any) -> Client:
    """Connect to a daemon on a Unix socket. Its folder must be ours alone, as hookd makes it:
    then nobody else can have put the socket there. The options are those of Client.
    """
    try:
        folder, file = os.stat(os.path.dirname(os.path.abspath(path))), os.lstat(path)
        if {folder.st_uid, file.st_uid} != {os.getuid()} or folder.st_mode & 0o077 or not stat.S_ISSOCK(file.st_mode):
            raise HookdError(f"{path} is no socket in a folder that is yours alone (mode 0700)")
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            peer.settimeout(5)
            peer.connect(path)
            peer.settimeout(None)
        except OSError:
            peer.close()
            raise
    except OSError as err:
        raise HookdError(f"cannot connect to {path}: {err}") from err

    def hang_up() -> None:
        try:
            peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the daemon was faster
        peer.close()

    def end(deadline: float) -> bool:
        hang_up()
        return True

    return Client(peer.makefile("rb", buffering=0), peer.sendall, hang_up, end, grace=0, **options)


class Call:
    """A request that was sent."""

    def __init__(self, client: Client, number: int, method: str):
        self._client, self._number, self._method = client, number, method
        self._done = threading.Event()
        self._result: Any = None
        self._error: Optional[HookdError] = None

    def _settle(self, result: Any, error: Optional[HookdError] = None) -> None:
        self._result, self._error = result, error
        self._done.set()

    def cancel(self) -> None:
        """Have the daemon end the hooks that run for it. The result is then an error, unless
        the answer was on its way already. A daemon that hangs still takes the whole time.
        """
        self._client._cancel(self._number)

    def result(self, timeout: Optional[float] = None) -> Any:
        """Wait for the answer, in seconds; the default is the client's."""
        limit = self._client.timeout if timeout is None else timeout
        try:
            in_time = self._done.wait(limit)
        except BaseException:  # Ctrl-C
            self.cancel()
            raise
        if not in_time:
            self.cancel()
            raise HookdTimeout(f"{self._method}: no answer in {limit:g} s")
        if self._error is not None:
            raise self._error
        return self._result


class Fired(Call):
    """An event that was sent."""

    def outcome(self, timeout: Optional[float] = None) -> Outcome:
        return _outcome(self.result(timeout))


class Client:
    """A connection to a daemon, from start or connect.

    capabilities say what the agent can carry out of an outcome: {"ask": True} if a person
    can decide, "callback", "continue". Without ask, a hook's ask comes as a block.
    timeout, in seconds, is for calls that name none.
    """

    def __init__(self, reader: Any, send: Callable[[bytes], None], close: Callable[[], None],
                 end: Callable[[float], bool], *, name: str = "", version: str = "", timeout: float = 300,
                 capabilities: Optional[Dict[str, bool]] = None, grace: float, shutdown: bool = False):
        self.timeout = timeout
        self._lock = threading.Lock()
        self._last = 0
        self._longest = 32 << 20  # what the daemon reads in one line
        self._waiting: Dict[int, Call] = {}
        self._gone: Optional[str] = None
        self._lines: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._end, self._grace, self._shutdown = end, grace, False
        threading.Thread(target=self._write, args=(send, close), daemon=True).start()
        self._reading = threading.Thread(target=self._read, args=(reader,), daemon=True)
        self._reading.start()
        try:
            hello = self._call("initialize", {
                "version": VERSION, "client": {"name": name, "version": version}, "capabilities": capabilities or {}})
            if not isinstance(hello, dict) or hello.get("version") != VERSION:
                raise HookdError(f"the daemon does not speak version {VERSION} of the protocol")
            self._shutdown = shutdown
        except BaseException:
            self._grace = 0
            self.close()
            raise

    def open(self, *, cwd: Optional[str] = None, project: Optional[str] = None, id: Optional[str] = None,
             host: Optional[str] = None) -> Session:
        """Open a session of a project, or of the project that the folder cwd lies in."""
        paths = {"cwd": cwd and os.path.abspath(cwd), "project": project and os.path.abspath(project)}
        params = {**paths, "id": id, "host": host}
        opened = self._call("session/open", {name: value for name, value in params.items() if value})
        if not isinstance(opened, dict) or not isinstance(opened.get("id"), str) or not isinstance(opened.get("key"), str):
            raise HookdError("session/open: the answer is no session")
        return Session(self, opened["id"], opened["key"])

    def close(self) -> bool:
        """End the connection; a daemon that start started ends, too, with all its hooks.
        Returns whether it ended well; False means that it had crashed or had to be killed.
        """
        deadline = time.monotonic() + self._grace
        if self._shutdown:
            try:
                self._call("shutdown", {}, self._grace)
            except HookdError:
                pass  # it is gone, or it hangs and is killed below
        self._shutdown = False
        self._lines.put(None)
        well = self._end(deadline)
        self._reading.join(1)
        self._fail("the client is closed")
        return well

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _call(self, method: str, params: Dict[str, Any], timeout: Optional[float] = None) -> Any:
        return self._post(Call, method, params).result(timeout)

    def _post(self, kind: Any, method: str, params: Dict[str, Any]) -> Any:
        with self._lock:  # so that lines leave in the order of their numbers
            if self._gone is not None:
                raise HookdError(self._gone)
            call = kind(self, self._last + 1, method)
            try:
                line = json.dumps({"jsonrpc": "2.0", "id": call._number, "method": method, "params": params}, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as err:
                raise HookdError(f"{method}: this cannot be written as JSON: {err}") from err
            if len(line) > self._longest:
                raise HookdError(f"{method}: {len(line)} bytes are more than the {self._longest} that the daemon reads")
            self._last = call._number
            self._waiting[call._number] = call
            self._lines.put(line.encode() + b"\n")
            return call

    def _cancel(self, number: int) -> None:
        with self._lock:
            call = self._waiting.get(number)  # it stays: the daemon still answers
            if call is not None and self._gone is None:
                note = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}
                self._lines.put(json.dumps(note).encode() + b"\n")

    def _write(self, send: Callable[[bytes], None], close: Callable[[], None]) -> None:
        try:
            for line in iter(self._lines.get, None):
                send(line)
        except (OSError, ValueError) as err:
            self._fail(f"the daemon is gone: {err}")
        finally:
            try:
                close()
            except OSError:
                pass  # a pipe that nobody reads any more

    def _read(self, reader: Any) -> None:
        why = "the daemon is gone"
        try:
            with io.BufferedReader(reader) as lines:
                while True:
                    line = lines.readline(LINE)
                    if not line.endswith(b"\n"):  # its end, or a line that is cut or too long
                        break
                    if line.strip():
                        self._take(json.loads(line.decode("utf-8"), parse_constant=_no_constant))
        except (ValueError, RecursionError) as err:
            why = f"the daemon wrote what is no message: {err}"
        except OSError as err:
            why = f"the daemon is gone: {err}"
        finally:
            self._fail(why)
            self._lines.put(None)

    def _take(self, message: Any) -> None:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise ValueError("not JSON-RPC 2.0")
        if "method" in message:
            return  # a notification
        number = message.get("id")
        if number is None and "error" in message:
            raise ValueError(f"an error about no request of ours: {message['error']}")
        if type(number) is not int or ("result" in message) == ("error" in message):
            raise ValueError("an answer without an id, or without one result or error")
        error = None
        if "error" in message:
            if not isinstance(message["error"], dict) or not isinstance(message["error"].get("message"), str):
                raise ValueError("an error without words")
            error = HookdError(message["error"]["message"], message["error"].get("code"), message["error"].get("data"))
        with self._lock:
            call = self._waiting.pop(number, None)
        if call is None:
            raise ValueError("no answer to a request of ours")
        call._settle(message.get("result"), error)

    def _fail(self, why: str) -> None:
        with self._lock:
            if self._gone is None:
                self._gone = why
            waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            call._settle(None, HookdError(self._gone))


class Session:
    """One conversation of the agent, from Client.open."""

    def __init__(self, client: Client, id: str, key: str):
        self._client, self.id, self.key = client, id, key

    def fire(self, event: str, data: Dict[str, Any], *, timeout: Optional[float] = None, **more: Any) -> Outcome:
        """Ask the hooks and wait. more are members of the event: agent, cwd, turn, step, usage …"""
        return self.begin(event, data, **more).outcome(timeout)

    def begin(self, event: str, data: Dict[str, Any], **more: Any) -> Fired:
        """Ask the hooks; the result has outcome(timeout) and cancel()."""
        session = {"id": self.id, "key": self.key}
        return self._client._post(Fired, "event/fire", {**more, "event": event, "session": session, "data": data})

    def close(self) -> None:
        """End the session, after the events that were fired before."""
        self._client._call("session/close", {"id": self.id, "key": self.key})


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _outcome(answer: Any) -> Outcome:
    """Read an outcome. What lacks a part that a host obeys is none."""
    if not isinstance(answer, dict):
        raise HookdError("event/fire: the answer is no outcome")
    fields = {field.name: answer[field.name] for field in dataclasses.fields(Outcome) if field.name in answer}
    shapes = {"action": str, "reason": str, "event": dict, "context": list, "notices": list, "messages": list,
              "runs": list, "generation": int}
    for name, shape in shapes.items():
        if not isinstance(fields.get(name), shape):
            raise HookdError(f"event/fire: the answer is no outcome: {name} is missing, or of another type")
    if fields["action"] not in ACTIONS:
        raise HookdError(f"event/fire: {fields['action']!r} is no action that this client knows")
    if not isinstance(fields["event"].get("data"), dict):
        raise HookdError("event/fire: the answer is no outcome: event has no data")
    fields.setdefault("by", None)
    fields.setdefault("callback", None)
    return Outcome(**fields)
