#!/usr/bin/env node
// Refuses the third call in a row that is the same as the two before it. Runs
// resident: one process per session, a line in, a line out. What it counts lives in
// memory and may be lost with the process; what must not be lost belongs in "state".
// Needs only Node.
//
// hook: events=tool-call-start can=block run=resident
// hook: onFailure=continue timeout=5s description="refuse the same call three times in a row"
const readline = require("node:readline");

let last = "";
let times = 0;

function judge(event) {
  const call = JSON.stringify([event.data.name, event.data.args]);
  times = call === last ? times + 1 : 1;
  last = call;
  if (times < 3) return { action: "observe" };
  return { action: "block", reason: `${event.data.name} was called ${times} times in a row with the same arguments; do something else` };
}

// The loop ends when stdin does: then hookd has ended, or the session is over.
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const event = JSON.parse(line);
  process.stdout.write(JSON.stringify({ id: event.id, ...judge(event) }) + "\n");
});
