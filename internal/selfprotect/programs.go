package selfprotect

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/table"
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
var programs = rows[program]{
	{"rm", program{all: removes}}, {"rmdir", program{all: removes}}, {"unlink", program{all: removes}}, {"shred", program{all: writes, values: "-n --iterations -s --size"}}, {"srm", program{all: removes}},
	{"trash", program{all: removes}}, {"trash-put", program{all: removes}}, {"gio", program{all: removes}}, {"rimraf", program{all: removes}}, {"del", program{all: removes}}, {"erase", program{all: removes}}, {"rd", program{all: removes}},
	{"mv", program{all: removes, last: replaces}}, {"rename", program{all: removes}}, {"prename", program{all: removes}}, {"ren", program{all: removes}}, {"move", program{all: removes, last: replaces}},
	{"cp", program{last: replaces}}, {"install", program{last: replaces, values: "-m --mode -o --owner -g --group -S"}}, {"gcp", program{last: replaces}}, {"rsync", program{last: replaces, values: "-e --rsh --exclude --include --filter -f --files-from --chmod"}}, {"scp", program{last: replaces, values: "-P -i -o -F"}}, {"ditto", program{last: replaces}},
	{"copy", program{last: replaces}}, {"xcopy", program{last: replaces}}, {"robocopy", program{all: replaces}},
	{"ln", program{all: replaces}}, {"link", program{all: writes}}, {"symlink", program{all: replaces}}, {"mount", program{last: removes, values: "-o -t"}}, {"umount", program{all: removes}},
	{"chmod", program{all: removes, values: "--reference"}}, {"chown", program{all: removes, values: "--reference --from"}}, {"chgrp", program{all: removes, values: "--reference"}},
	{"chattr", program{all: removes}}, {"chflags", program{all: removes}}, {"setfacl", program{all: removes}}, {"setfattr", program{all: writes}}, {"xattr", program{all: writes}}, {"setcap", program{all: writes}}, {"icacls", program{all: removes}}, {"attrib", program{all: removes}}, {"takeown", program{all: removes}},
	{"touch", program{all: writes, values: "-r --reference -d --date -t"}}, {"truncate", program{all: writes, values: "-s --size -r --reference"}}, {"fallocate", program{all: writes, values: "-l --length -o --offset"}},
	{"mkdir", program{all: writes, values: "-m --mode"}}, {"mkfifo", program{all: writes}}, {"mknod", program{all: writes}}, {"md", program{all: writes}}, {"mktemp", program{all: writes}},
	{"tee", program{all: writes}}, {"sponge", program{all: writes}}, {"vipe", program{all: writes}}, {"tee-object", program{all: writes}},
	{"ed", program{all: writes}}, {"ex", program{all: writes}}, {"vi", program{all: writes}}, {"vim", program{all: writes}}, {"nvim", program{all: writes}}, {"view", program{}}, {"nano", program{all: writes}}, {"pico", program{all: writes}}, {"emacs", program{all: writes}}, {"emacsclient", program{all: writes}}, {"micro", program{all: writes}}, {"hx", program{all: writes}},
	{"sed", program{all: writes, only: "-i --in-place", values: "-e --expression -f --file -l"}}, {"gsed", program{all: writes, only: "-i --in-place", values: "-e --expression -f --file -l"}},
	{"sd", program{all: writes}}, {"dos2unix", program{all: writes}}, {"unix2dos", program{all: writes}}, {"patch", program{all: writes, options: "-o --output", values: "-i --input -p -d --directory"}},
	{"gzip", program{all: writes, reads: "-c --stdout -l --list -t"}}, {"gunzip", program{all: writes, reads: "-c --stdout -l -t"}}, {"bzip2", program{all: writes, reads: "-c --stdout -t"}}, {"xz", program{all: writes, reads: "-c --stdout -l -t"}}, {"zstd", program{all: writes, only: "--rm -o", reads: "-c"}}, {"compress", program{all: writes, reads: "-c"}},
	{"dd", program{names: "of="}}, {"sort", program{options: "-o --output"}}, {"curl", program{options: "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr", folders: "--output-dir"}}, {"wget", program{options: "-O --output-document -o --output-file -a --append-output", folders: "-P --directory-prefix"}},
	{"split", program{last: writes, prefix: true, values: "-b -l -n -C -a"}}, {"csplit", program{options: "-f --prefix", prefix: true}}, {"uniq", program{last: writes, values: "-f -s -w"}}, {"xxd", program{last: writes, only: "-r"}}, {"script", program{last: writes, options: "-O -B -T -I", values: "-c --command"}}, {"objcopy", program{last: writes}}, {"strip", program{all: writes}}, {"ssh-keygen", program{options: "-f"}}, {"logrotate", program{options: "-s --state -l --log"}}, {"shuf", program{options: "-o --output"}}, {"del-cli", program{all: removes}}, {"trash-cli", program{all: removes}},
	{"aria2c", program{options: "-o --out", folders: "-d --dir"}}, {"rclone", program{last: replaces}}, {"aws", program{last: replaces}}, {"gsutil", program{last: replaces}}, {"gcloud", program{last: replaces}}, {"azcopy", program{last: replaces}}, {"mc", program{last: replaces}}, {"s3cmd", program{last: replaces}}, {"pandoc", program{options: "-o --output"}}, {"ffmpeg", program{last: writes}}, {"convert", program{last: writes}}, {"magick", program{last: writes}}, {"gcc", program{options: "-o"}}, {"cc", program{options: "-o"}}, {"clang", program{options: "-o"}}, {"ld", program{options: "-o"}}, {"iconv", program{options: "-o --output"}}, {"openssl", program{options: "-out"}},
	{"yq", program{all: writes, only: "-i --inplace --in-place"}}, {"prettier", program{all: writes, only: "-w --write"}}, {"biome", program{all: writes, only: "--write --fix"}}, {"eslint", program{all: writes, only: "--fix"}}, {"black", program{all: writes}}, {"gofmt", program{all: writes, only: "-w"}}, {"clang-format", program{all: writes, only: "-i"}}, {"jsonlint", program{all: writes, only: "-i --in-place"}},
	{"crudini", program{all: writes, only: "--set --del --merge"}}, {"dasel", program{options: "-f --file", only: "put delete"}}, {"toml", program{all: writes}}, {"json", program{all: writes, only: "-I --in-place"}}, {"jo", program{options: "-o"}}, {"xmlstarlet", program{all: writes, only: "-L --inplace"}},
	{"set-content", program{all: writes}}, {"add-content", program{all: writes}}, {"clear-content", program{all: writes}}, {"out-file", program{all: writes}}, {"new-item", program{all: writes}}, {"remove-item", program{all: removes}}, {"move-item", program{all: removes}}, {"copy-item", program{last: replaces}}, {"rename-item", program{all: removes}}, {"set-itemproperty", program{all: writes}}, {"set-acl", program{all: removes}}, {"ni", program{all: writes}}, {"ri", program{all: removes}}, {"sc", program{all: writes}},
}

// readers only read what their words name, or take no paths.
const readers table.Words = "cat bat less more most head tail grep egrep fgrep rg ag ack zgrep ls ll eza exa tree stat file wc diff cmp colordiff sdiff comm paste join " +
	"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum jq gojq od hexdump strings nl tac rev cut tr column fold fmt pr expand unexpand " +
	"echo printf test [ [[ true false : realpath readlink basename dirname pwd cd pushd popd chdir set-location which type whereis command du df locate " +
	"export declare typeset local readonly set unset read shift return exit sleep wait date env sudo doas time nohup nice xargs parallel timeout exec eval source . builtin " +
	"sh bash dash ash zsh ksh fish pwsh ssh tmux screen watch flock su runuser chroot stdbuf setsid busybox toybox strace ltrace " +
	"man help xmllint jsonschema ajv code open xdg-open gh hookd hookd-bridge ps pgrep pidof top lsof id whoami uname hostname " +
	"get-content gc select-string get-childitem dir type gci get-item test-path write-output write-host"

// rows are names and what they stand for, in a form that costs the start of a program
// nothing, as a map would: agents start hookd for every event.
type rows[V any] []row[V]

type row[V any] struct {
	name string
	is   V
}

// get returns what a name stands for, and whether there is a row for it.
func (r rows[V]) get(name string) (is V, known bool) {
	for i := range r {
		if r[i].name == name {
			return r[i].is, true
		}
	}
	return is, false
}

// of returns what a name stands for, the zero value without a row.
func (r rows[V]) of(name string) V {
	is, _ := r.get(name)
	return is
}

// isWriter reports whether a program writes paths that stand in its words.
func isWriter(word string) bool {
	p, is := programs.get(programName(word))
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
