#!/usr/bin/env python3
# why: a person is asked when a run gets expensive or long, and again when it has doubled
# group: watching
# needs: python3
# option HOOKD_MAX_COST: USD of a run before it asks; default 5
# option HOOKD_MAX_STEPS: model calls of a run before it asks; default 100
#
# The cost counts where the model's provider, or agent.prices of the settings, tells it.
# Where nobody can answer, asking is refusing: the run ends. hookd's own limits end a run
# without a question: agent.limits.cost and agent.limits.steps. Standard library only; an
# error ends with exit code 1, and onFailure=block refuses.
#
# hook: events=step-start,tool-call-start can=block onFailure=block timeout=5s
# hook: env=HOOKD_MAX_COST,HOOKD_MAX_STEPS description="ask when a run gets expensive or long"
import json
import os
import sys

COST = float(os.environ.get("HOOKD_MAX_COST") or 5)
STEPS = int(os.environ.get("HOOKD_MAX_STEPS") or 100)
if not (COST > 0 and STEPS > 0):
    sys.exit("HOOKD_MAX_COST and HOOKD_MAX_STEPS must be above 0")

event = json.load(sys.stdin)
cost, step = event["usage"]["costUsd"] or 0, event["step"]
if not isinstance(event["usage"]["costUsd"], (int, float, type(None))):
    sys.exit("the cost is no number")
state = event["state"] or {}
turn = event["turn"]
# Cost and steps are those of a run, which begins with a prompt.
asked = state.get("turn") == turn
most_cost = float(state["cost"]) if asked else COST
most_steps = int(state["steps"]) if asked else STEPS

# Who answers no ends the run, so the next question comes after a yes.
if cost >= most_cost:
    reply = {"action": "ask", "reason": f"this run has cost {cost:.2f} USD; may it go on?"}
    most_cost = max(most_cost, cost) * 2
elif step >= most_steps:
    reply = {"action": "ask", "reason": f"this is model call {step} of the run; may it go on?"}
    most_steps = max(most_steps, step) * 2
else:
    sys.exit(0)
reply["state"] = {"turn": turn, "cost": most_cost, "steps": most_steps}
print(json.dumps(reply))
