#!/usr/bin/env node
// Takes secrets out of tool results before the model, the session file or any
// later hook reads them. Needs only Node.
//
// hook: events=tool-call-end can=modify
// hook: onFailure=block timeout=5s sensitive=true description="take secrets out of tool results"
const fs = require("node:fs");

const secrets = [
  [/\b([A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|API_KEY)[A-Z0-9_]*\s*[=:]\s*)("[^"\n]*"|'[^'\n]*'|[^\s"',;]+)/gi, "value"],
  [/\bAKIA[0-9A-Z]{16}\b/g, "aws-key"],
  [/\bgh[pousr]_[A-Za-z0-9]{36,}\b/g, "github-token"],
  [/\bsk-[A-Za-z0-9_-]{20,}/g, "api-key"],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, "slack-token"],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, "private-key"],
];

let count = 0;
function clean(text) {
  for (const [pattern, kind] of secrets) {
    text = text.replace(pattern, (found, name) => {
      count++;
      return kind === "value" ? `${name}[redacted]` : `[redacted ${kind}]`;
    });
  }
  return text;
}

// An error ends with exit code 1: a failure, and onFailure=block withholds the
// result. A redactor that cannot look must not let the result through.
const event = JSON.parse(fs.readFileSync(0, "utf8"));
const content = event.data.result.content;
const cleaned =
  typeof content === "string"
    ? clean(content)
    : content.map((part) => (part.type === "text" ? { ...part, text: clean(part.text) } : part));

if (count > 0) {
  console.log(JSON.stringify({
    action: "modify",
    changes: { result: { content: cleaned } },
    notice: `${count} secret${count === 1 ? "" : "s"} taken out of the result`,
  }));
}
