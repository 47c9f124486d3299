import { spawn } from "node:child_process";

const MOST = 16 * 1024 * 1024; // characters of an answer

/**
 * Asks hookd about an event. The promise never fails: without an answer that can be read
 * it is a refusal, which says why. failed is set then, and a caller whose event cannot be
 * refused tells the person.
 *
 * @param {string} event the agent's own name of it
 * @param {object} data what hookd reads
 * @returns {Promise<{block?: boolean, ask?: boolean, stop?: boolean, continue?: boolean, reason?: string,
 *   args?: object, text?: string, context?: string, notice?: string, failed?: boolean}>}
 */
function askHookd(event, data) {
  return new Promise((resolve) => {
    let out = "", err = "", timer, child, done = false;
    const settle = (answer) => {
      if (done) return;
      done = true;
      clearTimeout(timer);
      resolve(answer);
    };
    const fail = (why) => {
      end(child);
      settle({ block: true, failed: true, reason: `hookd: the check could not be made: ${why}. Nothing is let through unchecked; hookd check says more.` });
    };
    let input;
    try {
      input = JSON.stringify({ hook_event_name: event, ...data });
      child = spawn(COMMAND[0], [...COMMAND.slice(1), event], {
        stdio: ["pipe", "pipe", "pipe"], detached: process.platform !== "win32", windowsHide: true, cwd: data.cwd || undefined,
      });
    } catch (e) {
      return fail(message(e));
    }
    timer = setTimeout(() => fail(`no answer within ${LIMIT_MS / 1000} s`), LIMIT_MS);
    child.on("error", (e) => fail(`${COMMAND[0]} cannot be started (${message(e)})`));
    child.stdin.on("error", () => {}); // it ended before it had read all, and its end says why
    child.stdout.setEncoding("utf8").on("data", (text) => {
      out += text;
      if (out.length > MOST) fail("the answer is too long");
    });
    child.stderr.setEncoding("utf8").on("data", (text) => { if (err.length < 4096) err += text; });
    child.on("close", (code, signal) => {
      if (code !== 0) return fail(`hookd ended with ${signal || "exit code " + code}${err ? ": " + err.trim() : ""}`);
      const answer = parse(out);
      if (answer === null) return fail("hookd's answer is no object");
      settle(answer);
    });
    child.stdin.end(input);
  });
}

/** Ends a process with all that it has started. */
function end(child) {
  if (!child || child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.platform === "win32" ? child.kill("SIGKILL") : process.kill(-child.pid, "SIGKILL");
  } catch { /* it is gone */ }
}

function parse(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function message(e) { return e instanceof Error ? e.message : String(e); }

/** Makes an object have the members of another one, in place: who holds it sees the change. */
function replaceMembers(target, source) {
  for (const name of Object.keys(target)) if (!Object.hasOwn(source, name)) delete target[name];
  for (const [name, value] of Object.entries(source)) {
    Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true });
  }
}

function joined(...texts) { return texts.filter((text) => text).join("\n\n"); }
