// Plays jobs with the TypeScript client: drive.mjs FOLDER-OF-CLIENTS; jobs on stdin, results on stdout.
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const hookd = await import(process.argv[2] + "/hookd.ts");

function connect(job) {
  const options = { name: "driver", timeout: job.timeout, capabilities: job.capabilities };
  return job.socket ? hookd.connect(job.socket, options) : hookd.start({ command: job.command, grace: job.grace, ...options });
}

async function play(job) {
  let result = {}, client;
  const data = { toolCallId: "c1", name: "bash", kind: "shell", args: { command: job.text, big: 2 ** 53 }, parallel: 1 };
  const began = Date.now();
  try {
    client = await connect(job);
    const session = await client.open({ cwd: "." });
    if (job.pause) {
      writeFileSync(process.env.HOME + "/waits", "");
      while (!existsSync(process.env.HOME + "/go")) await new Promise((on) => setTimeout(on, 10));
    }
    const signal = job.cancel ? AbortSignal.timeout(job.cancel) : undefined;
    const out = await session.fire("tool-call-start", data, { signal }, { step: 1 });
    result = { action: out.action, refused: out.refused, by: out.by, reason: out.reason, failure: out.failure,
      command: out.data.args.command, context: out.context.map((c) => c.text), step: out.event.step };
    await session.close();
  } catch (err) {
    if (!(err instanceof hookd.HookdError)) throw err;
    result = { error: err.message, kind: err.constructor.name, code: err.code };
  }
  result.took = Date.now() - began;
  if (client) {
    result.well = await client.close();
    await client.open({ cwd: "." }).catch(() => { result.afterClose = "refused"; });
  }
  result.all = Date.now() - began;
  return result;
}

for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await play(JSON.parse(line))));
