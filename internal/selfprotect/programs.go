package selfprotect

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
)

// program is how a program uses the paths in its words. It is a row of a table: what is
// not here and not among the readers may do anything.
type program struct {
	all     use    // of each operand; mentions: they are only read
	last    use    // of the last operand, or of the value of -t; mentions: as all
	options string // options whose value is a file that is written
	values  string // options whose value is the next word and no path that is written
	only    string // the operands are used so only with one of these options
	reads   string // with one of these options nothing is written
	names   string // operands of the form NAME=PATH whose path is written
	folders string // options whose value is a folder that files are put into
	prefix  bool   // the path is the beginning of names
}

// programs are the programs that write.
var programs = map[string]program{
	"rm": {all: removes}, "rmdir": {all: removes}, "unlink": {all: removes}, "shred": {all: writes, values: "-n --iterations -s --size"}, "srm": {all: removes},
	"trash": {all: removes}, "trash-put": {all: removes}, "gio": {all: removes}, "rimraf": {all: removes}, "del": {all: removes}, "erase": {all: removes}, "rd": {all: removes},
	"mv": {all: removes, last: replaces}, "rename": {all: removes}, "prename": {all: removes}, "ren": {all: removes}, "move": {all: removes, last: replaces},
	"cp": {last: replaces}, "install": {last: replaces, values: "-m --mode -o --owner -g --group -S"}, "gcp": {last: replaces}, "rsync": {last: replaces, values: "-e --rsh --exclude --include --filter -f --files-from --chmod"}, "scp": {last: replaces, values: "-P -i -o -F"}, "ditto": {last: replaces},
	"copy": {last: replaces}, "xcopy": {last: replaces}, "robocopy": {all: replaces},
	"ln": {all: replaces}, "link": {all: writes}, "symlink": {all: replaces}, "mount": {last: removes, values: "-o -t"}, "umount": {all: removes},
	"chmod": {all: removes, values: "--reference"}, "chown": {all: removes, values: "--reference --from"}, "chgrp": {all: removes, values: "--reference"},
	"chattr": {all: removes}, "chflags": {all: removes}, "setfacl": {all: removes}, "setfattr": {all: writes}, "xattr": {all: writes}, "setcap": {all: writes}, "icacls": {all: removes}, "attrib": {all: removes}, "takeown": {all: removes},
	"touch": {all: writes, values: "-r --reference -d --date -t"}, "truncate": {all: writes, values: "-s --size -r --reference"}, "fallocate": {all: writes, values: "-l --length -o --offset"},
	"mkdir": {all: writes, values: "-m --mode"}, "mkfifo": {all: writes}, "mknod": {all: writes}, "md": {all: writes}, "mktemp": {all: writes},
	"tee": {all: writes}, "sponge": {all: writes}, "vipe": {all: writes}, "tee-object": {all: writes},
	"ed": {all: writes}, "ex": {all: writes}, "vi": {all: writes}, "vim": {all: writes}, "nvim": {all: writes}, "view": {}, "nano": {all: writes}, "pico": {all: writes}, "emacs": {all: writes}, "emacsclient": {all: writes}, "micro": {all: writes}, "hx": {all: writes},
	"sed": {all: writes, only: "-i --in-place", values: "-e --expression -f --file -l"}, "gsed": {all: writes, only: "-i --in-place", values: "-e --expression -f --file -l"},
	"sd": {all: writes}, "dos2unix": {all: writes}, "unix2dos": {all: writes}, "patch": {all: writes, options: "-o --output", values: "-i --input -p -d --directory"},
	"gzip": {all: writes, reads: "-c --stdout -l --list -t"}, "gunzip": {all: writes, reads: "-c --stdout -l -t"}, "bzip2": {all: writes, reads: "-c --stdout -t"}, "xz": {all: writes, reads: "-c --stdout -l -t"}, "zstd": {all: writes, only: "--rm -o", reads: "-c"}, "compress": {all: writes, reads: "-c"},
	"dd": {names: "of="}, "sort": {options: "-o --output"}, "curl": {options: "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr", folders: "--output-dir"}, "wget": {options: "-O --output-document -o --output-file -a --append-output", folders: "-P --directory-prefix"},
	"split": {last: writes, prefix: true, values: "-b -l -n -C -a"}, "csplit": {options: "-f --prefix", prefix: true}, "uniq": {last: writes, values: "-f -s -w"}, "xxd": {last: writes, only: "-r"}, "script": {last: writes, options: "-O -B -T -I", values: "-c --command"}, "objcopy": {last: writes}, "strip": {all: writes}, "ssh-keygen": {options: "-f"}, "logrotate": {options: "-s --state -l --log"}, "shuf": {options: "-o --output"}, "del-cli": {all: removes}, "trash-cli": {all: removes},
	"aria2c": {options: "-o --out", folders: "-d --dir"}, "rclone": {last: replaces}, "aws": {last: replaces}, "gsutil": {last: replaces}, "gcloud": {last: replaces}, "azcopy": {last: replaces}, "mc": {last: replaces}, "s3cmd": {last: replaces}, "pandoc": {options: "-o --output"}, "ffmpeg": {last: writes}, "convert": {last: writes}, "magick": {last: writes}, "gcc": {options: "-o"}, "cc": {options: "-o"}, "clang": {options: "-o"}, "ld": {options: "-o"}, "iconv": {options: "-o --output"}, "openssl": {options: "-out"},
	"yq": {all: writes, only: "-i --inplace --in-place"}, "prettier": {all: writes, only: "-w --write"}, "biome": {all: writes, only: "--write --fix"}, "eslint": {all: writes, only: "--fix"}, "black": {all: writes}, "gofmt": {all: writes, only: "-w"}, "clang-format": {all: writes, only: "-i"}, "jsonlint": {all: writes, only: "-i --in-place"},
	"crudini": {all: writes, only: "--set --del --merge"}, "dasel": {options: "-f --file", only: "put delete"}, "toml": {all: writes}, "json": {all: writes, only: "-I --in-place"}, "jo": {options: "-o"}, "xmlstarlet": {all: writes, only: "-L --inplace"},
	"set-content": {all: writes}, "add-content": {all: writes}, "clear-content": {all: writes}, "out-file": {all: writes}, "new-item": {all: writes}, "remove-item": {all: removes}, "move-item": {all: removes}, "copy-item": {last: replaces}, "rename-item": {all: removes}, "set-itemproperty": {all: writes}, "set-acl": {all: removes}, "ni": {all: writes}, "ri": {all: removes}, "sc": {all: writes},
}

// readers only read what their words name, or take no paths.
var readers = set("cat bat less more most head tail grep egrep fgrep rg ag ack zgrep ls ll eza exa tree stat file wc diff cmp colordiff sdiff comm paste join " +
	"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum jq gojq od hexdump strings nl tac rev cut tr column fold fmt pr expand unexpand " +
	"echo printf test [ [[ true false : realpath readlink basename dirname pwd cd pushd popd chdir set-location which type whereis command du df locate " +
	"export declare typeset local readonly set unset read shift return exit sleep wait date env sudo doas time nohup nice xargs parallel timeout exec eval source . builtin " +
	"sh bash dash ash zsh ksh fish pwsh ssh tmux screen watch flock su runuser chroot stdbuf setsid busybox toybox strace ltrace " +
	"man help xmllint jsonschema ajv code open xdg-open gh hookd hookd-bridge ps pgrep pidof top lsof id whoami uname hostname " +
	"get-content gc select-string get-childitem dir type gci get-item test-path write-output write-host")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(words) {
		m[word] = true
	}
	return m
}

// isWriter reports whether a program writes paths that stand in its words.
func isWriter(word string) bool {
	p, is := programs[programName(word)]
	return is && (p.all != mentions || p.last != mentions) && p.only == ""
}

// writing judges the words of a program that writes.
func (j *shellLine) writing(c *shellwords.Command, p program) {
	args := c.Words[1:]
	if p.prefix {
		args = prefixes(args)
	}
	if hasOption(args, p.reads) || p.only != "" && !hasOption(args, p.only) {
		return
	}
	operands := operandsOf(args, p.values+" "+p.options+" "+p.folders)
	intoFolder := "-t --target-directory"
	if slices.Contains(strings.Fields(p.values), "-t") {
		intoFolder = "--target-directory"
	}
	for i, word := range operands {
		u := p.all
		if p.last != mentions && i == len(operands)-1 && !hasOption(args, intoFolder) {
			u = p.last
		}
		if u == mentions {
			continue
		}
		j.operand(c, word, u)
		if u == replaces && len(operands) > 1 {
			j.into(c, word, operands[:len(operands)-1])
		}
	}
	written := strings.Fields(p.options)
	if p.last != mentions {
		written = append(written, strings.Fields(intoFolder)...)
	}
	for _, word := range valuesOf(args, written) {
		j.operand(c, word, writes)
		if p.last != mentions {
			j.into(c, word, operands)
		}
	}
	for _, word := range valuesOf(args, strings.Fields(p.folders)) {
		j.operand(c, word, replaces)
	}
	for _, word := range args {
		if value, is := strings.CutPrefix(word.Text, p.names); is && p.names != "" {
			j.operand(c, shellwords.Word{Text: value, Literal: word.Literal}, writes)
		}
	}
}

// prefixes returns words of which each may be the beginning of a name.
func prefixes(args []shellwords.Word) []shellwords.Word {
	args = slices.Clone(args)
	for i, word := range args {
		if word.Literal && !strings.HasPrefix(word.Text, "-") {
			args[i] = shellwords.Word{Text: strings.ReplaceAll(word.Text, " ", "?") + "*"}
		}
	}
	return args
}

// operand judges one path that a command writes.
func (j *shellLine) operand(c *shellwords.Command, word shellwords.Word, u use) {
	switch place, doubt := j.target(word, u); {
	case place != nil:
		j.refuse("%s would change %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
	case doubt:
		j.doubt("%s may change hook settings (%s)", quoted(c.Text), word.Text)
	}
}

// into judges what files become in a folder that they are copied, moved or linked to.
func (j *shellLine) into(c *shellwords.Command, folder shellwords.Word, files []shellwords.Word) {
	for _, file := range files {
		for _, dir := range j.expander.word(folder) {
			for _, from := range j.expander.word(file) {
				base := from[strings.LastIndex(from, "/")+1:]
				if base == "" || base == "." || base == ".." || hidden(base) && isElsewhere(j.judge, dir) {
					continue
				}
				if place, _ := j.pattern(strings.TrimSuffix(dir, "/")+"/"+base, replaces); place != nil {
					j.refuse("%s would write %s into %s, %s", quoted(c.Text), quoted(base), quoted(folder.Text), describe(place))
					return
				}
			}
		}
	}
}

// isElsewhere reports whether a folder is neither in the project, nor above it, nor in the
// home folder: a copy of an agent's folder there is read by nobody.
func isElsewhere(j *judge, dir string) bool {
	if strings.Contains(dir, unknown) || isPattern(dir) {
		return false
	}
	for _, from := range j.dirs {
		full := unescape(joined(from, dir), "")
		if real, err := filepath.EvalSymlinks(full); err == nil {
			full = real
		}
		for _, root := range []string{j.scope.Project, j.scope.Cwd, j.scope.Home} {
			if root != "" && (protect.IsInside(full, root) || protect.IsInside(root, full)) {
				return false
			}
		}
	}
	return true
}

// operandsOf are the words that are no options and no values of the options that take
// the next word.
func operandsOf(args []shellwords.Word, takeValue string) (operands []shellwords.Word) {
	values := strings.Fields(takeValue)
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case !word.Literal || word.Text == "-" || !strings.HasPrefix(word.Text, "-"):
			operands = append(operands, word)
		case word.Text == "--":
			return append(operands, args[i+1:]...)
		case slices.Contains(values, word.Text):
			i++
		}
	}
	return operands
}

// valuesOf are the values of some options: -o X, -oX, --output X, --output=X.
func valuesOf(args []shellwords.Word, options []string) (values []shellwords.Word) {
	for i, word := range args {
		for _, option := range options {
			value, glued := strings.CutPrefix(word.Text, option)
			switch {
			case !glued:
			case value == "" && i+1 < len(args):
				values = append(values, args[i+1])
			case strings.HasPrefix(option, "--") && strings.HasPrefix(value, "="):
				values = append(values, shellwords.Word{Text: value[1:], Literal: word.Literal})
			case !strings.HasPrefix(option, "--") && len(option) == 2 && value != "":
				values = append(values, shellwords.Word{Text: value, Literal: word.Literal})
			}
		}
		// Letters stand together: tar -czf X, sort -uo X.
		if word.Literal && len(word.Text) > 2 && word.Text[0] == '-' && word.Text[1] != '-' && i+1 < len(args) &&
			slices.ContainsFunc(options, func(o string) bool { return len(o) == 2 && strings.HasSuffix(word.Text, o[1:]) }) {
			values = append(values, args[i+1])
		}
	}
	return values
}

// hasOption reports whether one of some options is among the words, also with a value
// (-i.bak, --in-place=x) or among other letters (-ni).
func hasOption(args []shellwords.Word, options string) bool {
	return slices.ContainsFunc(args, func(w shellwords.Word) bool {
		return slices.ContainsFunc(strings.Fields(options), func(option string) bool {
			switch {
			case w.Text == option || strings.HasPrefix(w.Text, option+"="):
				return true
			case len(option) != 2 || option[0] != '-' || len(w.Text) < 2 || w.Text[0] != '-' || w.Text[1] == '-':
				return false
			}
			return strings.HasPrefix(w.Text, option) || strings.Trim(w.Text[1:], letters) == "" && strings.Contains(w.Text, option[1:])
		})
	})
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
