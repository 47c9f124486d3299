// Calls the plug-in as OpenCode does and prints what came of it.
const { Hookd } = await import(process.argv[2]);
const toasts = [];
const client = { tui: { showToast: async ({ body }) => toasts.push(body.message) } };
const hooks = await Hookd({ client, directory: process.cwd() });
const sessionID = "ses_1", callID = "call_1";
const result = { toasts };
const attempt = async (name, what) => {
  try {
    result[name] = await what();
  } catch (e) {
    result[name] = e.message;
  }
};

if (!process.env.BROKEN) await hooks.event({ event: { type: "session.created", properties: { sessionID, info: { id: sessionID } } } });
const args = { command: "echo hi" };
await attempt("before", async () => {
  const output = { args };
  await hooks["tool.execute.before"]({ tool: "bash", sessionID, callID }, output);
  if (output.args !== args) throw new Error("args were replaced, not changed in place");
  return args.command;
});
await attempt("after", async () => {
  const output = { title: "t", output: "hi", metadata: { output: "hi" } };
  await hooks["tool.execute.after"]({ tool: "bash", sessionID, callID, args: { command: "echo hi" } }, output);
  if (output.metadata.output !== output.output) throw new Error(`metadata has ${output.metadata.output}`);
  return output.output;
});
await attempt("prompt", async () => {
  const parts = [{ type: "file", url: "x" }, { type: "text", text: "do it" }, { type: "text", text: "hidden", synthetic: true }];
  await hooks["chat.message"]({ sessionID }, { message: {}, parts });
  return parts[1].text;
});
if (process.env.BROKEN) {
  console.log(JSON.stringify(result));
  process.exit();
}
await attempt("system", async () => {
  const system = [];
  await hooks["experimental.chat.system.transform"]({ sessionID }, { system });
  return system;
});
await attempt("compacting", async () => {
  const output = { context: [] };
  await hooks["experimental.session.compacting"]({ sessionID }, output);
  result.instructions = output.prompt;
  return output.context;
});
await attempt("thrown", async () => {
  for (const type of ["session.idle", "session.compacted", "session.deleted", "message.updated"]) {
    await hooks.event({ event: { type, properties: { sessionID } } });
  }
  await hooks.event({ event: { type: "session.error", properties: { sessionID, error: { name: "E", data: { message: "gone" } } } } });
});
console.log(JSON.stringify(result));
