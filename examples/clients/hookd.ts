// A client of hookd for agents in TypeScript, in one file, without dependencies. Node 22.18
// and later run it as it stands; any compiler only has to take the types away.
//
//   const client = await start({ name: "my-agent" });
//   try {
//     const session = await client.open({ cwd: process.cwd() });
//     const outcome = await session.fire("tool-call-start", {
//       toolCallId: "c1", name: "bash", kind: "shell", args: { command: "ls" }, parallel: 1 });
//     if (outcome.refused) return outcome.reason;
//     const args = outcome.data.args;
//   } finally { await client.close(); }
//
// Nothing passes by mistake: every call that has no whole, readable answer throws HookdError,
// whether the daemon died, hangs, writes garbage or refuses the request. At a gate treat that
// as a refusal. host.ts is a complete agent. The protocol is docs/daemon.md of hookd.
//
// JavaScript has no exact numbers beyond 2^53: hand long ids to hooks as text.

import { spawn } from "node:child_process";
import { lstatSync, statSync } from "node:fs";
import { connect as connectTo } from "node:net";
import { dirname, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";

const VERSION = 1; // of the protocol
const LINE = 128 << 20; // the longest answer in bytes
const ACTIONS = ["observe", "block", "modify", "ask", "allow", "stop", "continue", "callback"] as const;

export type Action = (typeof ACTIONS)[number];
export type Data = Record<string, any>;
export interface HookText { hook: string; source?: string; text: string; failure?: string | null }

/** What the hooks decided together: the table "outcome" of docs/daemon.md.
 *
 *  Obey action; whatever it is, go on with event, and give context to the model and
 *  notices to the person. A replaced value takes the place of the work itself. */
export interface Outcome {
  action: Action; // the strongest answer
  by: string | null; // the hook that gave it
  reason: string; // what the model and the person read
  failure?: string | null; // set when a failure's rule decided, not an answer
  byExit?: boolean;
  event: Data; // final
  context: HookText[]; // for the model
  notices: HookText[]; // for the person
  messages: Data[]; // to add, where the run goes on
  callback: { name: string; args?: Record<string, string>; as?: string; by?: string } | null; // the recipe to run
  generation: number; // of the set of hooks that decided
  runs: Data[]; // of the hooks that took part
  answered?: { by: string; name?: string; option?: string; text?: string } | null; // who answered, if a person was to be asked
  replaced?: any; // the result or response in place of the work itself
  replacedBy?: string;
  lost?: string[]; // what the host cannot carry out
  argsHidden?: boolean; // do not send the model's own args as data.original
  /** The event must not take effect. An ask is refused until a person has allowed it. */
  refused: boolean;
  /** The data to go on with: event.data. */
  data: Data;
}

/** There is no outcome. Where the daemon answered with an error, code and data are its. */
export class HookdError extends Error {
  code?: number;
  data?: unknown;
  constructor(text: string, code?: number, data?: unknown) {
    super(text);
    this.name = "HookdError";
    this.code = code;
    this.data = data;
  }
}

/** The caller's time was over. The daemon was told to end the hooks of the event. */
export class HookdTimeout extends HookdError {}

export interface Options {
  name?: string; // of the agent
  version?: string;
  /** What the agent can carry out of an outcome. Without ask, a hook's ask comes as a block. */
  capabilities?: { ask?: boolean; callback?: boolean; continue?: boolean };
  timeout?: number; // in milliseconds, of calls that name none; 5 minutes
}

export interface Wait {
  timeout?: number; // in milliseconds
  signal?: AbortSignal; // its abort has the daemon end the hooks
}

/** Start a daemon of our own. It ends with close, or when this process ends. grace is how long
 *  close waits for it before it kills it, in milliseconds; its own end takes up to 10 seconds. */
export async function start(options: Options & { command?: string[]; cwd?: string; env?: NodeJS.ProcessEnv; grace?: number } = {}): Promise<Client> {
  const [program, ...args] = options.command ?? ["hookd", "serve"];
  const child = spawn(program, args, {
    cwd: options.cwd, env: options.env, stdio: ["pipe", "pipe", "inherit"],
    detached: process.platform !== "win32", // its own session: Ctrl-C is ours
  });
  let failed = "";
  const ended = new Promise<boolean>((done) => {
    child.on("error", (err) => { failed = `cannot start ${program}: ${err.message}`; done(false); });
    child.on("exit", (code) => done(code === 0));
  });
  const client = new Client(child.stdout, child.stdin, options, async (grace) => {
    child.stdin.end();
    const well = await within(ended, grace);
    if (well === undefined) child.kill("SIGKILL");
    await ended;
    child.stdout.destroy(); // which something that it left may hold open
    return well ?? false;
  });
  try {
    await client.hello(options.grace ?? 12_000);
  } catch (err) {
    throw failed ? new HookdError(failed) : err;
  }
  return client;
}

/** Connect to a daemon on a Unix socket. Its folder must be ours alone, as hookd makes it:
 *  then nobody else can have put the socket there. */
export async function connect(path: string, options: Options = {}): Promise<Client> {
  const peer = connectTo({ path: ours(path) });
  const client = new Client(peer, peer, options, async () => { peer.destroy(); return true; });
  await client.hello(0);
  return client;
}

function ours(path: string): string {
  try {
    const folder = statSync(dirname(resolve(path)));
    const end = lstatSync(path);
    const me = process.getuid?.();
    if (folder.uid === me && end.uid === me && (folder.mode & 0o077) === 0 && end.isSocket()) return path;
  } catch (err) {
    throw new HookdError(`cannot connect to ${path}: ${(err as Error).message}`);
  }
  throw new HookdError(`${path} is no socket in a folder that is yours alone (mode 0700)`);
}

interface Waiting { done: (result: unknown) => void; fail: (err: HookdError) => void }

/** A connection to a daemon, from start or connect. */
export class Client {
  #out: Writable;
  #end: (grace: number) => Promise<boolean>;
  #options: Options;
  #last = 0;
  #waiting = new Map<number, Waiting>();
  #gone: string | undefined;
  #grace = 0;
  #longest = 32 << 20; // what the daemon reads in one line

  constructor(input: Readable, out: Writable, options: Options, end: (grace: number) => Promise<boolean>) {
    this.#out = out;
    this.#end = end;
    this.#options = options;
    const lost = (err?: Error) => this.#fail(err ? `the daemon is gone: ${err.message}` : "the daemon is gone");
    out.on("error", lost);
    input.on("error", lost);
    input.on("close", () => lost());
    let parts: Buffer[] = [];
    let size = 0;
    input.on("data", (chunk: Buffer) => {
      for (let begin = 0; this.#gone === undefined; ) {
        const at = chunk.indexOf(10, begin);
        const part = chunk.subarray(begin, at < 0 ? undefined : at);
        parts.push(part);
        size += part.length;
        if (size > LINE) this.#fail("the daemon wrote a line that is too long");
        if (at < 0) return;
        this.#take(Buffer.concat(parts));
        [parts, size, begin] = [[], 0, at + 1];
      }
    });
  }

  /** Introduce the agent; start and connect do so. */
  async hello(grace: number): Promise<void> {
    const { name = "", version = "", capabilities = {} } = this.#options;
    try {
      const hello = await this.call("initialize", { version: VERSION, client: { name, version }, capabilities }) as Data | null;
      if (hello?.version !== VERSION) throw new HookdError(`the daemon does not speak version ${VERSION} of the protocol`);
      this.#grace = grace;
    } catch (err) {
      await this.close();
      throw err;
    }
  }

  /** Open a session of a project, or of the project that the folder cwd lies in. */
  async open(about: { cwd?: string; project?: string; id?: string; host?: string }): Promise<Session> {
    const paths = { cwd: about.cwd && resolve(about.cwd), project: about.project && resolve(about.project) };
    const opened = await this.call("session/open", { ...about, ...paths }) as Data | null;
    if (typeof opened?.id !== "string" || typeof opened.key !== "string") throw new HookdError("session/open: the answer is no session");
    return new Session(this, opened.id, opened.key);
  }

  /** End the connection; a daemon that start started ends, too, with all its hooks. Returns
   *  whether it ended well; false means that it had crashed or had to be killed. */
  async close(): Promise<boolean> {
    const grace = this.#grace;
    const began = Date.now();
    this.#grace = 0;
    if (grace > 0) await this.call("shutdown", {}, { timeout: grace }).catch(() => {}); // gone, or killed below
    const well = await this.#end(Math.max(grace - (Date.now() - began), 100));
    this.#fail("the client is closed");
    return well;
  }

  /** Send a request and wait for its answer. */
  call(method: string, params: unknown, wait: Wait = {}): Promise<unknown> {
    return new Promise((done, fail) => {
      const id = this.#last + 1;
      const limit = wait.timeout ?? this.#options.timeout ?? 300_000;
      if (this.#gone !== undefined) throw new HookdError(this.#gone);
      if (wait.signal?.aborted) throw new HookdError(`${method}: cancelled by the caller`);
      this.#send(method, { jsonrpc: "2.0", id, method, params });
      this.#last = id;
      const settle = () => {
        clearTimeout(timer);
        wait.signal?.removeEventListener("abort", abort);
      };
      const giveUp = (err: HookdError) => {
        settle();
        this.#waiting.set(id, { done() {}, fail() {} }); // the daemon still answers
        if (this.#gone === undefined) this.#send(method, { jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
        fail(err);
      };
      const abort = () => giveUp(new HookdError(`${method}: cancelled by the caller`));
      const timer = setTimeout(() => giveUp(new HookdTimeout(`${method}: no answer in ${limit} ms`)), limit);
      wait.signal?.addEventListener("abort", abort);
      this.#waiting.set(id, { done: (result) => { settle(); done(result); }, fail: (err) => { settle(); fail(err); } });
    });
  }

  #send(method: string, message: object): void {
    let line: string;
    try {
      line = JSON.stringify(message);
    } catch (err) {
      throw new HookdError(`${method}: this cannot be written as JSON: ${(err as Error).message}`);
    }
    const size = Buffer.byteLength(line);
    if (size > this.#longest) throw new HookdError(`${method}: ${size} bytes are more than the ${this.#longest} that the daemon reads`);
    this.#out.write(line + "\n");
  }

  #take(line: Buffer): void {
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(line);
      if (text.trim() === "") return;
      const message = JSON.parse(text);
      if (message?.jsonrpc !== "2.0") throw new Error("not JSON-RPC 2.0");
      if ("method" in message) return; // a notification
      const { id, error } = message;
      if (error && id == null) throw new Error(`an error about no request of ours: ${error.message}`);
      const waiting = this.#waiting.get(id);
      if (!waiting || "result" in message === "error" in message) throw new Error("no answer to a request of ours");
      if ("error" in message && typeof error?.message !== "string") throw new Error("an error without words");
      this.#waiting.delete(id);
      if ("result" in message) waiting.done(message.result);
      else waiting.fail(new HookdError(error.message, error.code, error.data));
    } catch (err) {
      this.#fail(`the daemon wrote what is no message: ${(err as Error).message}`);
    }
  }

  #fail(why: string): void {
    this.#gone ??= why;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const one of waiting) one.fail(new HookdError(this.#gone));
    this.#out.end(); // a daemon that writes garbage reads the end of its input
  }
}

/** One conversation of the agent, from Client.open. */
export class Session {
  #client: Client;
  id: string;
  key: string;

  constructor(client: Client, id: string, key: string) {
    this.#client = client;
    this.id = id;
    this.key = key;
  }

  /** Ask the hooks and wait. more are members of the event: agent, cwd, turn, step, usage … */
  async fire(event: string, data: Data, wait: Wait = {}, more: Data = {}): Promise<Outcome> {
    const session = { id: this.id, key: this.key };
    return outcomeOf(await this.#client.call("event/fire", { ...more, event, session, data }, wait));
  }

  /** End the session, after the events that were fired before. */
  async close(): Promise<void> {
    await this.#client.call("session/close", { id: this.id, key: this.key });
  }
}

/** Read an outcome. What lacks a part that a host obeys is none. */
function outcomeOf(answer: any): Outcome {
  const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
  const need = (name: string, good: boolean) => {
    if (!good) throw new HookdError(`event/fire: the answer is no outcome: ${name} is missing, or of another type`);
  };
  need("it", isObject(answer));
  need("action", typeof answer.action === "string");
  need("reason", typeof answer.reason === "string");
  need("generation", typeof answer.generation === "number");
  for (const list of ["context", "notices", "messages", "runs"]) need(list, Array.isArray(answer[list]));
  need("event", isObject(answer.event));
  need("event.data", isObject(answer.event.data));
  if (!ACTIONS.includes(answer.action)) throw new HookdError(`event/fire: ${JSON.stringify(answer.action)} is no action that this client knows`);
  return { ...answer, refused: ["block", "stop", "ask"].includes(answer.action), data: answer.event.data };
}

/** The value, or undefined after a time. */
function within<T>(value: Promise<T>, ms: number): Promise<T | undefined> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(undefined), ms);
    void value.then((it) => { clearTimeout(timer); done(it); });
  });
}
