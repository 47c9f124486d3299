/** The plug-in's functions, as OpenCode calls them. A function that throws refuses. */
export const Hookd = async ({ client, directory }) => {
  const contexts = new Map(); // text for the model by session, or a promise of it
  const later = new Map(); // text for the model by call, until its result is there
  const parents = new Map(); // of sessions that are sub-agents

  const common = (session) => ({
    session_id: session, cwd: directory, ...(parents.has(session) ? { agent_id: session } : {}),
  });
  const tell = async (text, variant) => {
    if (!text) return;
    try {
      await client?.tui?.showToast?.({ body: { title: "hookd", message: text, variant } });
    } catch { /* there is no window */ }
  };
  /** Asks about what can be refused. */
  const gate = async (event, data) => {
    const answer = await askHookd(event, data);
    void tell(answer.notice, "info");
    if (answer.block || answer.ask || answer.stop) throw new Error(answer.reason || "refused by hookd");
    return answer;
  };
  /** Tells about what cannot be refused. */
  const report = async (event, data) => {
    const answer = await askHookd(event, data);
    void tell(answer.failed ? answer.reason : answer.notice, answer.failed ? "error" : "info");
    return answer.failed ? {} : answer;
  };

  return {
    "tool.execute.before": async (input, output) => {
      const answer = await gate("tool.execute.before", {
        ...common(input.sessionID), tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args ?? {},
      });
      if (answer.args) {
        if (output.args === null || typeof output.args !== "object") throw new Error("hookd: the args of this call cannot be changed");
        replaceMembers(output.args, answer.args);
      }
      if (answer.context) later.set(input.callID, answer.context);
    },

    "tool.execute.after": async (input, output) => {
      const before = later.get(input.callID);
      later.delete(input.callID);
      const answer = await gate("tool.execute.after", {
        ...common(input.sessionID), tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args ?? {}, tool_response: textOf(output),
      });
      if (answer.text !== undefined) setText(output, answer.text);
      const context = joined(before, answer.context);
      if (context) setText(output, joined(textOf(output), context));
    },

    "chat.message": async (input, output) => {
      const [part, ...others] = (output.parts ?? []).filter((one) => one.type === "text" && !one.synthetic);
      if (!part) return; // only files
      const answer = await gate("chat.message", { ...common(input.sessionID), prompt: joined(part.text, ...others.map((one) => one.text)) });
      if (answer.text !== undefined) {
        part.text = answer.text;
        for (const other of others) other.text = "";
      }
      if (answer.context) part.text = joined(part.text, answer.context);
    },

    "experimental.chat.system.transform": async (input, output) => {
      const context = await contexts.get(input.sessionID);
      if (context) output.system.push(context);
    },

    "experimental.session.compacting": async (input, output) => {
      const answer = await report("experimental.session.compacting", common(input.sessionID));
      if (answer.text !== undefined) output.prompt = answer.text;
      if (answer.context) output.context.push(answer.context);
    },

    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id;
      switch (event.type) {
        case "session.created":
          if (event.properties.info?.parentID) {
            parents.set(session, event.properties.info.parentID);
            return; // the start of a sub-agent is no start of a session
          }
          contexts.set(session, report(event.type, common(session)).then((answer) => answer.context));
          return;
        case "session.idle":
          if (parents.has(session)) return;
          break;
        case "session.deleted":
          contexts.delete(session);
          parents.delete(session);
          break;
        case "session.error":
        case "session.compacted":
          break;
        default:
          return;
      }
      const problem = event.properties?.error;
      await report(event.type, { ...common(session), ...(problem ? { error: problem.data?.message ?? problem.name ?? String(problem) } : {}) });
    },
  };
};

/** The text of a result: OpenCode's own tools have it as output, those of servers as content. */
function textOf(output) {
  if (typeof output.output === "string") return output.output;
  if (Array.isArray(output.content)) return output.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
  return "";
}

function setText(output, text) {
  if (Array.isArray(output.content)) {
    output.content.splice(0, output.content.length, { type: "text", text }, ...output.content.filter((part) => part.type !== "text"));
  }
  if (typeof output.output === "string" || !Array.isArray(output.content)) output.output = text;
  if (typeof output.metadata?.output === "string") output.metadata.output = text;
}
