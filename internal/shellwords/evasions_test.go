package shellwords

import "testing"

// answers are those for two denied commands: rm and git push.
func answers(t *testing.T, line string) (rm, push Answer) {
	t.Helper()
	l := Split(line)
	rm, _ = l.Compare(pattern(t, "rm"))
	push, _ = l.Compare(pattern(t, "git push"))
	return rm, push
}

// TestEvasions has denied commands behind wrappers, quotes and evaluations: each is found,
// or undecided.
func TestEvasions(t *testing.T) {
	for _, line := range []string{
		"doas -u x rm y", "nice rm x", "nice -10 rm x", "ionice -c3 rm x", "stdbuf -oL rm x", "setsid -w rm x", "env -i rm x", "env - rm x",
		"env -C /tmp rm x", "env -u A B=c rm x", "busybox sh -c 'rm x'", "script -q -c 'rm x' /dev/null", "watch -n 1 rm x", "watch 'rm x'",
		"timeout -s KILL 5 rm x", "timeout --signal=KILL 5 rm x", "timeout 5s bash -c 'rm x'", "xargs -0 rm < f", "xargs -n1 -P4 rm", "xargs -a f rm",
		"find . -name x -ok rm {} \\;", "find . -execdir rm {} +", "fd x -x rm", "parallel rm ::: a b", "parallel -j4 'rm {}' ::: a", "ssh -t host 'rm x'",
		"ssh host -- rm x", "ssh host \"rm x\"", "tmux new -d 'rm x'", "screen -dm rm x", "su -c 'rm x'", "su - -c 'rm x'", "runuser -u u -- rm x",
		"chroot /x rm y", "chroot --userspec=a:b /x rm y", "unshare -r rm x", "nsenter -t 1 -m -- rm x", "flock /tmp/l rm x", "flock -n /tmp/l -c 'rm x'",
		"taskset 1 rm x", "taskset -c 0 rm x", "chrt 1 rm x", "strace -f rm x", "systemd-run --user rm x", "bash -c 'eval \"rm x\"'",
		"bash -euxo pipefail -c 'rm x'", "bash --norc -c 'rm x'", "bash -c $'rm x'", "bash -lc \"rm x\"", "zsh -fc 'rm x'", "dash <<<'rm x'", "cat f | bash",
		"bash < f", "bash -s < f", "bash <(cat f)", "sh -", "source /dev/stdin", "exec rm x", "command rm x", "command -p rm x", "builtin eval rm x",
		"coproc X { rm x; }", "function f { rm x; }; f", "f() ( rm x ); f", "if rm x; then :; fi", "until rm x; do :; done", "select a in b; do rm x; done",
		"[[ $(rm x) ]]", "echo \"${a[$(rm x)]}\"", "a[$(rm x)]=1", "echo ${a/$(rm x)/}", "echo ${a:-`rm x`}", "cat << E\n`rm x`\nE",
		"declare -A a=([x]=$(rm x))", "let a=$(rm x)", "(( a = $(rm x) ))", "for ((i=$(rm x);;)); do :; done", "case $(rm x) in esac", "echo >$(rm x)",
		"echo <(rm x) >(rm y)", "\\r\\m x", "'rm' x", "r''m x", "r\"\"m x", "/bin/rm x", "//bin//rm x", "./rm x", "~/rm x", "$'rm' x", "$\"rm\" x",
		"\"$(echo rm)\" x", "${X:-rm} x", "`echo rm` x", "{rm,x}", "r[m] x", "r? x", "?m x", "X=rm;$X x", "alias r=rm; r x", "trap rm EXIT",
		"PROMPT_COMMAND=rm", "BASH_ENV=x bash -c ls", "set -- rm x; \"$@\"", "IFS=,;a=rm,x;$a", "printf 'rm x' | sh", "echo rm x | xargs -I{} sh -c {}",
		"echo rm | xargs -I% % x", "python3 -c 'x' && rm x", "time -p rm x", "! rm x", "rm\tx", "rm;", "rm&", "rm|cat", "rm>x", "rm<x", "(rm)", "{ rm;}",
		"git push", "git  push", "git -c x=y push", "git --no-pager push", "git -C . push", "/usr/bin/git push", "git 'push'", "git pu\"sh\"", "git $X",
		"git $(echo push)", "git {push,}", "git pus*", "git -c alias.p=push p", "git --exec-path=x push", "git -p push", "sudo -E git push",
		"env GIT_SSH=x git push", "git rebase -x rm", "make -f - <<E", "env --split-string 'rm x'", "env -S 'rm x'", "env -vS 'rm x'",
		"nohup sh -c 'rm x' &", "sudo -s rm x", "sudo -i rm x", "sudo sh", "sudo -u x -- bash -c 'rm x'", "doas sh -c 'rm x'", "pkexec --user x rm y",
		"enable -f x rm", "hash -p /bin/rm ls", "readarray -C rm x", "compgen -C rm", "complete -C rm x", "bind -x '\"a\":rm'", "fc -s rm",
		"if [ -v 'a[$(rm x)]' ]; then :; fi", "unset 'a[`rm x`]'", "read -r 'a[$(rm)]' <<< x", "printf -v 'a[$(rm)]' x", "x='$(rm)'; echo \"${x@P}\"",
		"x='a[$(rm)]'; echo ${!x}", "wait -p 'a[$(rm)]'", "getopts a 'a[$(rm)]'", "mapfile 'a[$(rm)]'",
	} {
		if rm, push := answers(t, line); rm == No && push == No {
			t.Errorf("%s passes", line)
		}
	}
}

// TestHarmless has lines that only look like the denied commands.
func TestHarmless(t *testing.T) {
	for _, line := range []string{
		"git commit -m \"don't rm x\"", "sudo grep rm f", "xargs grep -l rm", "find . -name rm", "command -v rm", "type rm", "which rm", "echo rm", "man rm",
		"apt-get install rm-x", "sudo apt-get install x", "timeout 5 grep rm f", "env A=rm ls", "ssh host ls", "ssh rm ls", "docker run --rm x", "npm rm x",
		"git rm x", "make rm", "ls | grep rm", "cat rm.txt", "cd rm && ls", "echo $HOME", "for f in *.go; do gofmt -l $f; done",
		"go test ./... 2>&1 | tail -5", "X=$(pwd); echo $X", "git log --format='%h %s' | head", "awk '{print $1}' f", "sed -i 's/rm/x/' f",
		"python3 - <<'E'\nprint(1)\nE", "cat > f <<'E'\nrm x\nE", "git commit -m \"$(cat <<'E'\nfix rm\nE\n)\"",
		"find . -name '*.go' -exec grep -l foo {} +", "find . -type f | xargs wc -l", "while read -r l; do echo \"$l\"; done < f",
		"if [ -f x ]; then cat x; fi", "[[ -f x && $a -eq 3 ]] && ls", "n=$((n+1))", "export PATH=$PATH:/x", "source venv/bin/activate", "bash build.sh",
		"sh -c 'ls -l'", "nohup npm start > log 2>&1 &", "trap - EXIT", "mapfile -t a < f", "printf '%s\\n' \"$x\"", "read -r x", "time make",
		"curl -s x | jq .",
	} {
		if rm, push := answers(t, line); rm != No || push != No {
			t.Errorf("%s: %v, %v", line, rm, push)
		}
	}
}

// TestNoWall shows what no reader of a line can know: programs that run others by their own
// language, by a container, by a variable or later.
func TestNoWall(t *testing.T) {
	for _, line := range []string{
		"find . -delete", "git subtree push", "GIT_SEQUENCE_EDITOR='rm x' git rebase -i", "GIT_PAGER='rm x' git log", "EDITOR='rm x' git commit",
		"vim -c '!rm x'", "awk 'BEGIN{system(\"rm x\")}'", "sed -n '1e rm x' f", "tar --to-command='rm x' -xf f", "tar --checkpoint-action=exec='rm x' f",
		"rsync -e 'rm x' a b", "perl -e 'unlink x'", "history -s rm; !!", "npx rm", "uv run rm x", "poetry run rm x", "docker run x rm y",
		"kubectl exec p -- rm x", "gdb -ex 'shell rm x'", "at now <<< 'rm x'", "crontab - <<< '* * * * * rm x'",
	} {
		if rm, push := answers(t, line); rm != No || push != No {
			t.Errorf("%s is found: move it to TestEvasions", line)
		}
	}
}
