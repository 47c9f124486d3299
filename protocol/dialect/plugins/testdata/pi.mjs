// Calls the extension as pi does and prints what came of it.
const { default: hookd } = await import(process.argv[2]);
const handlers = {}, sent = [], told = [], asked = [];
hookd({ on: (name, handler) => { handlers[name] = handler; }, sendUserMessage: (text) => sent.push(text) });
const ctx = {
  cwd: process.cwd(), hasUI: true,
  sessionManager: { getSessionId: () => "s-1", getSessionFile: () => undefined },
  ui: { notify: (text) => told.push(text), confirm: async (title, text) => (asked.push(text), false) },
};
const result = { sent, told, asked };

if (!process.env.BROKEN) await handlers.session_start({ reason: "startup" }, ctx);
const input = { command: "echo hi" };
const before = await handlers.tool_call({ toolName: "bash", toolCallId: "c1", input }, ctx);
result.before = before?.block ? before.reason : input.command;
result.terminate = before?.terminate;
const after = await handlers.tool_result({ toolName: "bash", toolCallId: "c1", input: { command: "echo hi" }, content: [{ type: "text", text: "hi" }], isError: false }, ctx);
result.after = (after?.content ?? [{ text: "hi" }]).map((part) => part.text).join("\n");
const prompt = await handlers.input({ text: "do it", source: "interactive" }, ctx);
result.prompt = prompt?.action === "handled" ? "handled" : prompt?.text ?? "do it";
if (process.env.BROKEN) {
  console.log(JSON.stringify(result));
  process.exit();
}
result.system = (await handlers.before_agent_start({ prompt: "do it", systemPrompt: "base" }, ctx))?.systemPrompt ?? "";
for (let i = 0; i < 7; i++) {
  await handlers.agent_end({ messages: [{ role: "assistant", content: [{ type: "text", text: "done" }], stopReason: "stop" }] }, ctx);
}
await handlers.agent_end({ messages: [{ role: "assistant", content: [], stopReason: "aborted" }] }, ctx);
result.compact = (await handlers.session_before_compact({ reason: "manual" }, ctx))?.cancel;
await handlers.session_compact({ reason: "manual", compactionEntry: { summary: "s" } }, ctx);
await handlers.session_shutdown({ reason: "quit" }, ctx);
console.log(JSON.stringify(result));
