#!/bin/sh
# Too slow on purpose: it sleeps ten times as long as it may. hookd answers at the
# limit, ends the whole process tree (the sleep too) and follows onFailure.
#
# hook: events=tool-call-start match.tool=grep can=block
# hook: onFailure=continue timeout=500ms description="too slow, to see a time limit at work"
sleep 5
echo '{"action":"block","reason":"this answer comes too late to count"}'
