#!/bin/sh
# Installs hookd and hookd-bridge into ~/.local/bin, for this user and without root.
#
#   sh install.sh [--to FOLDER] [--version 1.2.3] [--from FOLDER or URL]
#
# It takes the archive for this system from a release, compares its SHA-256 sum with the one
# in SHA256SUMS, and starts the new hookd once. Only then does it replace both programs by
# renaming; whatever goes wrong before leaves everything as it was.
#
# All of it is in functions, and the last line calls the first. So a script that was cut off
# on its way does nothing.

main() {
	set -eu
	umask 022
	releases=https://github.com/hookd-dev/hookd/releases
	from='' to='' version='' work='' made='' said_more=''
	arguments "$@"
	trap clean EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 141' PIPE
	trap 'exit 143' TERM
	system=$(system_name)
	for tool in mktemp tar gzip; do
		have "$tool" || fail "this needs the program $tool"
	done
	have sha256sum || have shasum || fail "this needs sha256sum or shasum, to check what it downloads"
	open_folder
	fetch SHA256SUMS
	find_archive
	fetch "$archive"
	check_sum
	unpack
	replace
	clean
	tell
}

arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help)
			usage
			exit 0
			;;
		--to | --version | --from)
			[ $# -ge 2 ] && [ -n "$2" ] || wrong "$1 needs a value"
			case $1 in
			--to) to=$2 ;;
			--version) version=${2#v} ;;
			--from) from=$2 ;;
			esac
			shift 2
			;;
		*) wrong "unknown argument $1" ;;
		esac
	done
	case $version in
	*[!0-9A-Za-z.-]*) wrong "$version is no version; write it as 1.2.3" ;;
	esac
	if [ -z "$to" ]; then
		[ -n "${HOME:-}" ] || wrong "HOME is not set; name a folder with --to"
		to=$HOME/.local/bin
	fi
	case $to in /*) ;; *) to=$PWD/$to ;; esac
	case $from in
	'')
		from=$releases/latest/download
		[ -z "$version" ] || from=$releases/download/v$version
		;;
	https://*) ;;
	file://*%*) wrong "--from: write the folder as it is, without file:// and %" ;;
	file:///*) from=${from#file://} ;;
	*://*) wrong "--from: $from is neither a folder nor an https address" ;;
	/*) ;;
	*) from=$PWD/$from ;;
	esac
	from=${from%/}
}

usage() {
	cat <<'USAGE'
Installs hookd and hookd-bridge, for this user and without root.

  --to FOLDER      where to (~/.local/bin)
  --version 1.2.3  which release (the newest)
  --from WHERE     a folder with archives and SHA256SUMS, or its https address
USAGE
}

# system_name prints this system as archives name it.
system_name() {
	kernel=$(uname -s) && machine=$(uname -m) || fail "uname does not say which system this is"
	case $kernel in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	MINGW* | MSYS* | CYGWIN* | Windows*)
		fail "on Windows unpack hookd-VERSION-windows-amd64.zip of $releases into a folder of your PATH"
		;;
	*) fail "there is no archive for $kernel; with Go: go install github.com/hookd-dev/hookd/cmd/...@latest" ;;
	esac
	case $machine in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for $kernel on $machine; with Go: go install github.com/hookd-dev/hookd/cmd/...@latest" ;;
	esac
	# A program that is translated for an Apple processor is told of an Intel one.
	if [ "$os-$arch" = darwin-amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || :)" = 1 ]; then
		arch=arm64
	fi
	printf '%s\n' "$os-$arch"
}

# open_folder makes the target, and in it the folder to work in: what is there can be
# renamed into place, because it is on the same file system.
open_folder() {
	if [ ! -d "$to" ]; then
		mkdir -p -- "$to" || fail "cannot make the folder $to; --to names another"
		made=$to
	fi
	to=$(cd -- "$to" && pwd -P) || fail "cannot open the folder $to; --to names another"
	for program in hookd hookd-bridge; do
		[ ! -d "$to/$program" ] || fail "$to/$program is a folder; --to names another place"
	done
	work=$(mktemp -d "$to/.hookd-install.XXXXXX") || fail "cannot write in $to; --to names another folder"
}

# fetch copies a file of the release into the folder to work in.
fetch() {
	case $from in
	https://*)
		if have curl; then
			curl -fsSL --proto '=https' --retry 2 -o "$work/$1" "$from/$1" || fail "cannot download $from/$1"
		elif have wget; then
			wget -q -O "$work/$1" "$from/$1" || fail "cannot download $from/$1"
		else
			fail "this needs curl or wget, or --from FOLDER"
		fi
		;;
	*)
		[ -f "$from/$1" ] || fail "there is no file $from/$1"
		cp -- "$from/$1" "$work/$1" || fail "cannot copy $from/$1 to $to"
		;;
	esac
}

# find_archive reads in SHA256SUMS which archive is for this system, and its sum.
find_archive() {
	archive='' wanted='' lines=0
	while read -r sum name || [ -n "$sum" ]; do
		name=${name#\*}
		case $name in
		hookd-*-"$system".tar.gz)
			[ -z "$version" ] || [ "$name" = "hookd-$version-$system.tar.gz" ] || continue
			archive=$name wanted=$sum lines=$((lines + 1))
			;;
		esac
	done <"$work/SHA256SUMS"
	[ "$lines" -gt 0 ] || fail "$from/SHA256SUMS has no sum for hookd-${version:-VERSION}-$system.tar.gz"
	[ "$lines" -eq 1 ] || fail "$from/SHA256SUMS has $lines archives for $system; say which with --version"
	case $archive in */*) fail "$from/SHA256SUMS names a file outside of the release: $archive" ;; esac
	case $wanted in *[!0-9a-f]*) wanted='' ;; esac
	[ ${#wanted} -eq 64 ] || fail "$from/SHA256SUMS has no SHA-256 sum for $archive"
}

check_sum() {
	if have sha256sum; then
		got=$(sha256sum <"$work/$archive")
	else
		got=$(shasum -a 256 <"$work/$archive")
	fi
	got=${got%% *}
	[ "$got" = "$wanted" ] || fail "$archive is not what SHA256SUMS says (wanted $wanted, got $got): it was changed or cut off on its way"
}

# unpack takes the two programs out of the archive, and starts hookd once: on a disk that
# runs no programs, or for another processor, it would be of no use.
unpack() {
	mkdir "$work/new" "$work/old"
	top=${archive%.tar.gz}
	tar -xzof "$work/$archive" -C "$work/new" "$top/hookd" "$top/hookd-bridge" || fail "cannot unpack $archive in $to; is the disk full?"
	new=$work/new/$top
	for program in hookd hookd-bridge; do
		[ -f "$new/$program" ] && [ ! -h "$new/$program" ] || fail "$archive has no program $program"
		chmod 755 "$new/$program"
	done
	installed=$("$new/hookd" version 2>&1 </dev/null) || fail "the new hookd does not run in $to: $installed"
}

# replace renames both programs into place, or none. Nothing ends it half way but kill -9.
replace() {
	before=''
	for program in hookd hookd-bridge; do
		[ -e "$to/$program" ] || [ -h "$to/$program" ] || continue
		before=yes
		if [ -h "$to/$program" ] || ! ln "$to/$program" "$work/old/$program" 2>/dev/null; then
			cp -pP "$to/$program" "$work/old/$program" || fail "cannot keep $to/$program until the new one is in place"
		fi
	done
	trap '' HUP INT TERM
	if ! mv -f "$new/hookd-bridge" "$to/hookd-bridge" || ! mv -f "$new/hookd" "$to/hookd"; then
		put_back
		fail "cannot replace the programs in $to"
	fi
}

# put_back undoes what was renamed.
put_back() {
	for program in hookd hookd-bridge; do
		[ ! -e "$new/$program" ] || continue # never got there
		if [ -e "$work/old/$program" ] || [ -h "$work/old/$program" ]; then
			mv -f "$work/old/$program" "$to/$program" || said_more="; $to/$program is the new one"
		else
			rm -f "$to/$program"
		fi
	done
}

# tell says what was done, and what is left for the person.
tell() {
	printf '%s\n' "installed $installed" "  $to/hookd" "  $to/hookd-bridge"
	[ -z "$before" ] || printf '%s\n' "They replaced those that were there."
	running=$(old_ones)
	[ -z "$running" ] || printf '%s\n' "Still the one from before, until it ends: process$running"
	case :$PATH: in
	*:"$to":* | *:"$to"/:*)
		first=$(command -v hookd || :)
		[ "$first" = "$to/hookd" ] || printf '%s\n' "Your shell finds another one first: $first"
		;;
	*)
		printf '%s\n' "That folder is not on your PATH. Put this into the file that your shell reads at its start:" \
			"  export PATH=$(quoted "$to"):\$PATH"
		;;
	esac
	printf '%s\n' "To remove them:" \
		"  $(quoted "$to/hookd") uninstall AGENT   # each that you installed it into" \
		"  rm $(quoted "$to/hookd") $(quoted "$to/hookd-bridge")"
}

# old_ones prints the processes that run a hookd which was replaced.
old_ones() {
	[ -n "$before" ] && [ -d /proc/self ] || return 0
	{ ls -l /proc/[0-9]*/exe 2>/dev/null || :; } | while IFS= read -r row; do
		case $row in
		*" -> $to/hookd (deleted)")
			row=${row##*/proc/}
			printf ' %s' "${row%%/exe*}"
			;;
		esac
	done
}

# quoted prints a word as a shell reads it.
quoted() {
	case $1 in
	*[!0-9A-Za-z/._-]*) printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")" ;;
	*) printf '%s' "$1" ;;
	esac
}

have() { command -v "$1" >/dev/null 2>&1; }

# clean removes what no longer has a use: when both programs are in place, and at every end.
clean() {
	[ -z "$work" ] || rm -rf -- "$work"
	[ -z "$made" ] || rmdir -- "$made" 2>/dev/null || :
}

fail() {
	printf '%s\n' "install.sh: $1" "Nothing was installed or changed$said_more." >&2
	exit 1
}

wrong() {
	printf '%s\n' "install.sh: $1" >&2
	usage >&2
	exit 2
}

{ main "$@"; }
