#!/usr/bin/env node
// {{.Name}}: refuses a shell command that holds "forbidden".
//
// hook: events=tool-call-start match.tool=@shell can=block
// hook: onFailure=block timeout=5s
const fs = require("node:fs");

// The event is one JSON object on stdin. An exception ends with exit code 1: a
// failure, and onFailure=block refuses.
const event = JSON.parse(fs.readFileSync(0, "utf8"));
const command = event.data.args.command;
if (typeof command !== "string") throw new Error("the command is no text");

if (command.includes("forbidden")) {
  console.log(JSON.stringify({ action: "block", reason: "the word forbidden is not allowed here" }));
}
// Nothing on stdout and exit 0: nothing to say.
