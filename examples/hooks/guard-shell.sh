#!/bin/sh
# Refuses shell commands that destroy work. Needs only sh, sed and grep.
#
# The words are compared without backslashes and quotes, which the shell would take
# away, and with any white space as blanks.
# It is a hurdle against accidents. It cannot see through variables, aliases or
# a script that the command starts; for that, contain the agent itself.
#
# hook: events=tool-call-start match.tool=@shell can=block
# hook: onFailure=block timeout=5s description="refuse destructive shell commands"
set -u

refuse() {
	"$HOOKD" reply block --reason "$1" || exit 1
	exit 0
}

# Where there is no command to read, this fails, and onFailure=block refuses.
command=$("$HOOKD" get data.args.command) || exit 1

# So that "\rm", r''m, {rm,-r}, a tab and a line end cannot hide a word. A backslash joins
# a line with the next, but not after another one or in a comment: so both are read.
end=$(printf '\001')
text=$(printf '%s' "$command" | tr '\n\t\r\f\v{},' "$end       ") || exit 1
text=$(printf '%s\n%s\n' "$text" "$text" | sed "1s/\\\\$end//g; s/$end/ /g; s/[\\\\\"']//g") || exit 1

holds() {
	printf '%s\n' "$text" | grep -Eq -- "$1"
	case $? in
	0) return 0 ;;
	1) return 1 ;;
	*) exit 1 ;; # grep itself failed: no verdict, so fail closed
	esac
}

word='(^|[^[:alnum:]_.-])' # the start of a command's name
shell='([^[:space:]|;&]*/)?(ba|da|z|k)?sh([^[:alnum:]_-]|$)'
holds "${word}rm[[:space:]]([^|;&]*[[:space:]])?-([[:alpha:]]*[rR]|-r)" &&
	refuse 'rm of whole folders is not allowed here; remove single files by name, or ask the person'
holds "${word}(mkfs[.[:alnum:]]*|wipefs|fdisk|shred|shutdown|reboot|poweroff)([^[:alnum:]_-]|\$)" &&
	refuse 'this command can destroy a disk or stop the machine; it is not allowed here'
holds "${word}dd[[:space:]][^|;&]*of=/dev/|>[|]?[[:space:]]*/dev/(sd|hd|vd|nvme|mmcblk|disk)" &&
	refuse 'writing to a device is not allowed here'
holds "${word}git[[:space:]]([^|;&]*[[:space:]])?push[[:space:]]([^|;&]*[[:space:]])?([+]|(-[[:alpha:]]*f[[:alpha:]]*|--force)([^[:alnum:]-]|\$))" &&
	refuse 'a forced push overwrites the work of others; push without force, or ask the person'
holds "${word}git[[:space:]]([^|;&]*[[:space:]])?(reset[[:space:]][^|;&]*--ha|clean[[:space:]][^|;&]*-[[:alpha:]]*f)" &&
	refuse 'this throws away uncommitted work; commit or stash it first'
holds "${word}(curl|wget)[[:space:]][^;]*[|]&?[[:space:]]*((sudo|env)[[:space:]]+([^|;&]*[[:space:]])?)?$shell" &&
	refuse 'do not pipe a download into a shell; save it, read it, then run it'
holds "${word}(eval|source|(ba|da|z|k)?sh)[[:space:]][^;]*([$<][(]|\`)[[:space:]]*(curl|wget)[[:space:]]" &&
	refuse 'do not run a download in a shell; save it, read it, then run it'
exit 0
