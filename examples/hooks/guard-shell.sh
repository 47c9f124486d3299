#!/bin/sh
# Refuses shell commands that destroy work. Needs only sh, sed and grep.
#
# It reads the event as text, not as JSON, and so refuses when in doubt: a match
# anywhere in the call's data counts, and characters written as \uXXXX that could
# hide a word are refused.
# It is a hurdle against accidents. It cannot see through variables, aliases or
# a script that the command starts; for that, contain the agent itself.
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s description="refuse destructive shell commands"
set -u

# Everything a reply holds is fixed text, so nothing needs escaping.
refuse() {
	printf '{"action":"block","reason":"%s"}\n' "$1"
	exit 0
}

event=$(cat) || exit 1
case $event in
*'"data":'*) data=${event#*'"data":'} ;;
*) exit 1 ;; # not an event: fail, and onFailure=block refuses
esac
data=${data%,\"outcome\":*} # what follows is what other hooks said

# Undo the JSON escapes, so that "\rm", r''m and a line end cannot hide a word:
# white space becomes blanks; backslashes and quotes, which the shell would take
# away too, go.
backslash=$(printf '\001')
text=$(printf '%s\n' "$data" | sed "
	s/\\\\\\\\/$backslash/g
	s/\\\\[ntrbf]/ /g
	s/\\\\u0026/\\&/g
	s/\\\\u003[cC]/</g
	s/\\\\u003[eE]/>/g
	s/[$backslash\"']//g
	s/\\\\\\([^u]\\)/\\1/g") || exit 1
case $text in
*'\u00'[0-7]*) refuse 'the command hides characters behind \\u escapes; write them plainly' ;;
esac

holds() {
	printf '%s\n' "$text" | grep -Eq -- "$1"
	case $? in
	0) return 0 ;;
	1) return 1 ;;
	*) exit 1 ;; # grep itself failed: no verdict, so fail closed
	esac
}

word='(^|[^[:alnum:]_.-])' # the start of a command's name
holds "${word}rm[[:space:]]([^|;&]*[[:space:]])?-([[:alpha:]]*[rR]|-recursive)" &&
	refuse 'rm of whole folders is not allowed here; remove single files by name, or ask the person'
holds "${word}(mkfs[.[:alnum:]]*|wipefs|fdisk|shred|shutdown|reboot|poweroff)([^[:alnum:]_-]|\$)" &&
	refuse 'this command can destroy a disk or stop the machine; it is not allowed here'
holds "${word}dd[[:space:]][^|;&]*of=/dev/|>[[:space:]]*/dev/(sd|hd|vd|nvme|mmcblk|disk)" &&
	refuse 'writing to a device is not allowed here'
holds "${word}git[[:space:]]([^|;&]*[[:space:]])?push[[:space:]][^|;&]*(-f([^[:alnum:]-]|\$)|--force([^[:alnum:]-]|\$)|[[:space:]][+])" &&
	refuse 'a forced push overwrites the work of others; push without force, or ask the person'
holds "${word}git[[:space:]]([^|;&]*[[:space:]])?(reset[[:space:]][^|;&]*--hard|clean[[:space:]][^|;&]*-[[:alpha:]]*f)" &&
	refuse 'this throws away uncommitted work; commit or stash it first'
holds "${word}(curl|wget)[[:space:]][^;&]*[|][[:space:]]*(sudo[[:space:]]+)?(ba|da|z|k)?sh([^[:alnum:]_-]|\$)" &&
	refuse 'do not pipe a download into a shell; save it, read it, then run it'
exit 0
