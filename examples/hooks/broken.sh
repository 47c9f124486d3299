#!/bin/sh
# Broken on purpose: a banner, a misspelt verdict, half a document. None of it is
# taken for a yes or a no; it is failure "reply", and onFailure decides.
#
# hook: events=tool-call-start match.tool=list_dir can=block
# hook: onFailure=continue timeout=5s description="broken, to see a failure follow its rule"
echo 'welcome to my profile'
echo '{"action":"blokc","reason":"cut off in the mid'
