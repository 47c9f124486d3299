// An agent with one tool, a shell, that asks hookd before and after each call.
//
//   node host.ts 'ls' 'rm -rf build'
//
// The arguments are what a model would ask for: put your model in the place of the loop.

import { spawnSync } from "node:child_process";
import { HookdError, start } from "./hookd.ts";
import type { Data, Outcome, Session } from "./hookd.ts";

class Stopped extends Error {}

function shell(command: string): Data {
  const done = spawnSync("/bin/sh", ["-c", command + "\n"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
  return { content: done.stdout + done.stderr, isError: done.status !== 0, exitCode: done.status ?? -1 };
}

/** Run one call as the hooks allow it; returns what the model reads. */
async function callTool(session: Session, step: number, command: string): Promise<string> {
  const call: Data = { toolCallId: `c${step}`, name: "bash", kind: "shell", args: { command } };
  const before = await session.fire("tool-call-start", { ...call, parallel: 1 }, {}, { step });
  obeyStop(before);
  if (before.refused) return `refused by ${before.by}: ${before.reason}`;
  const args = before.data.args;
  if (typeof args.command !== "string") return "refused: a hook changed the command to what is no text";
  if (args.command !== command && !before.argsHidden) call.original = call.args;
  call.args = args;
  const replaced = before.replaced !== undefined;
  const result = replaced ? before.replaced : shell(args.command);
  const after = await session.fire("tool-call-end", { ...call, result, durationMs: 0, synthetic: replaced }, {}, { step });
  obeyStop(after);
  if (after.refused) return `withheld by ${after.by}: ${after.reason}`;
  return [textOf(after.data.result.content), ...before.context.map((c) => c.text), ...after.context.map((c) => c.text)].join("\n");
}

function obeyStop(outcome: Outcome): void {
  if (outcome.action === "stop") throw new Stopped(`stopped by ${outcome.by}: ${outcome.reason}`);
}

/** A result's content is a text or a list of parts. */
function textOf(content: string | Data[]): string {
  const parts = typeof content === "string" ? [{ text: content }] : content;
  return parts.map((part) => part.text ?? "").join("").trimEnd();
}

const client = await start({ name: "example-host" });
try {
  const session = await client.open({ cwd: process.cwd() });
  for (const [step, command] of process.argv.slice(2).entries()) console.log(await callTool(session, step, command));
} catch (err) {
  if (!(err instanceof HookdError || err instanceof Stopped)) throw err;
  console.error(err instanceof HookdError ? `refused: ${err.message}` : err.message); // not asked, so nothing runs
  process.exitCode = 1;
} finally {
  await client.close();
}
