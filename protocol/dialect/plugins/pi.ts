const MOST_CONTINUED = 5; // times that hooks can have a run go on, for one prompt

/** Registers for pi's events. */
export default function hookd(pi) {
  let context = ""; // text for the model from the beginning of the session
  let continued = 0; // times that hooks had the run go on since the prompt
  const later = new Map(); // text for the model by call, until its result is there

  const common = (ctx) => ({ session_id: sessionOf(ctx), cwd: ctx.cwd, transcript_path: ctx.sessionManager?.getSessionFile?.() ?? "" });
  const tell = (ctx, text, kind) => {
    if (!text) return;
    if (ctx.hasUI) ctx.ui.notify(text, kind);
    else console.error(text);
  };
  /** Asks about what can be refused, and has the person decide where a hook wants that. */
  const gate = async (event, ctx, data) => {
    let answer;
    try {
      answer = await askHookd(event, { ...common(ctx), ...data });
      tell(ctx, answer.notice, "info");
      if (answer.ask && !answer.block) answer.block = !(ctx.hasUI && (await ctx.ui.confirm("hookd", answer.reason || "Go on?")));
    } catch (e) {
      answer = { block: true, reason: `hookd: ${message(e)}` };
    }
    answer.block = Boolean(answer.block || answer.stop);
    answer.reason = answer.reason || "refused by hookd";
    return answer;
  };
  /** Tells about what cannot be refused. */
  const report = async (event, ctx, data) => {
    const answer = await askHookd(event, { ...common(ctx), ...data });
    tell(ctx, answer.failed ? answer.reason : answer.notice, answer.failed ? "error" : "info");
    return answer.failed ? {} : answer;
  };

  pi.on("tool_call", async (event, ctx) => {
    const answer = await gate("tool_call", ctx, { tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input ?? {} });
    if (answer.block) return { block: true, reason: answer.reason, ...(answer.stop ? { terminate: true } : {}) };
    if (answer.args) replaceMembers(event.input, answer.args);
    if (answer.context) later.set(event.toolCallId, answer.context);
  });

  pi.on("tool_result", async (event, ctx) => {
    const before = later.get(event.toolCallId);
    later.delete(event.toolCallId);
    const answer = await gate("tool_result", ctx, {
      tool_name: event.toolName, tool_use_id: event.toolCallId, tool_input: event.input ?? {},
      tool_response: { content: event.content ?? [], isError: Boolean(event.isError) },
    });
    if (answer.block) return { content: [{ type: "text", text: answer.reason }], details: {}, isError: true };
    const added = joined(before, answer.context);
    if (answer.text === undefined && !added) return;
    const content = answer.text === undefined ? [...(event.content ?? [])] : [{ type: "text", text: answer.text }, ...(event.content ?? []).filter((part) => part.type !== "text")];
    if (added) content.push({ type: "text", text: added });
    return { content, ...(answer.text === undefined ? {} : { details: {} }) };
  });

  pi.on("input", async (event, ctx) => {
    if (event.source !== "extension") continued = 0;
    const answer = await gate("input", ctx, { prompt: event.text ?? "" });
    if (answer.block) {
      tell(ctx, answer.reason, "error");
      if (!ctx.hasUI) process.exitCode = 1;
      return { action: "handled" };
    }
    const text = joined(answer.text ?? event.text, answer.context);
    if (text !== event.text) return { action: "transform", text, images: event.images };
  });

  pi.on("session_start", async (event, ctx) => {
    const source = event.reason === "resume" || event.reason === "fork" ? event.reason : "startup";
    context = (await report("session_start", ctx, { source })).context ?? "";
  });

  pi.on("before_agent_start", async (event) => {
    if (context) return { systemPrompt: joined(event.systemPrompt, context) };
  });

  pi.on("agent_end", async (event, ctx) => {
    const last = lastMessage(event.messages);
    if (last?.stopReason === "aborted" || last?.stopReason === "error") return; // it was ended, and is not to go on
    const answer = await report("agent_end", ctx, { last_assistant_message: textOf(last), loop_count: continued });
    if (!answer.continue) return;
    if (continued >= MOST_CONTINUED) {
      tell(ctx, `hookd: a hook wants the run to go on, as hooks did ${MOST_CONTINUED} times since the prompt; it ends now`, "warning");
      return;
    }
    continued++;
    try {
      pi.sendUserMessage(answer.reason, { deliverAs: "followUp" });
    } catch { // pi -p ends without waiting for agent_end; ctx is of no use then either
      console.error(`hookd: a hook wants the run to go on, and pi -p has ended it: ${answer.reason}`);
    }
  });

  pi.on("session_before_compact", async (event, ctx) => {
    const answer = await gate("session_before_compact", ctx, {
      trigger: event.reason === "manual" ? "manual" : "auto", custom_instructions: event.customInstructions ?? "",
    });
    if (!answer.block) return;
    tell(ctx, answer.reason, "warning");
    return { cancel: true };
  });

  pi.on("session_compact", async (event, ctx) => {
    await report("session_compact", ctx, { trigger: event.reason === "manual" ? "manual" : "auto", compact_summary: event.compactionEntry?.summary ?? "" });
  });

  pi.on("session_shutdown", async (event, ctx) => {
    await report("session_shutdown", ctx, { reason: event.reason === "quit" ? "exit" : "resume" });
  });
}

function sessionOf(ctx) { return ctx.sessionManager?.getSessionId?.() ?? ""; }

/** What the model said last. */
function lastMessage(messages) { return (messages ?? []).findLast((one) => one.role === "assistant"); }

function textOf(message) {
  if (typeof message?.content === "string") return message.content;
  return (message?.content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n");
}
