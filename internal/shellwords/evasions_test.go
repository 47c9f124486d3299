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

// TestEvasionsThatRan has lines with which bash or git really ran a denied command.
func TestEvasionsThatRan(t *testing.T) {
	for _, line := range []string{
		"HOME=rm; ~ x",
		"cd /bin; [\"r\"]m x",
		"BASH_CMDS[ls]=/bin/rm; ls x",
		"shopt -s expand_aliases\nBASH_ALIASES[ls]=rm\nls x",
		"bash <<E\nr\\\\m x\nE",
		"bash <<E\nX=rm; \\$X x\nE",
		"X='; rm y'; bash <<E\necho $X\nE",
		"bash <<'A' <<'B'\nls\nA\nrm x\nB",
		"bash <<<ls <<<'rm x'",
		"echo rm x | bash 3<<<ls",
		"echo rm x >f; bash <<<ls <f",
		"declare -i x; x='a[$(rm x)]'",
		"RANDOM='a[$(rm x)]'",
		"x='b[$(rm y)]'; a[x]=1",
		"x='b[$(rm y)]'; echo ${a[x]}",
		"x='b[$(rm y)]'; s=abc; echo ${s:x}",
		"x='b[$(rm y)]'; a=([x]=1)",
		"x='b[$(rm y)]'; declare -a a=([x]=1)",
		"X='!rm x' git --config-env=alias.p=X p",
		"git rebase --exe 'rm x' HEAD~1",
		"git rebase -x'rm x' HEAD~1",
		"git rebase -ix 'rm x' HEAD~1",
		"git ls-remote --upload-pack='rm x;git-upload-pack' .",
		"git ls-remote --exec='rm x;git-upload-pack' .",
		"git fetch --upload-pack 'rm x;git-upload-pack' .",
		"git clone -u 'rm x;git-upload-pack' . y",
		"git push --receive-pack='rm x;git-receive-pack' . HEAD:b",
		"git push --exec='rm x;git-receive-pack' . HEAD:b",
		"echo ho >f; git difftool -y -x 'rm x'",
		"git grep -O'rm x' hi",
		"FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch --tree-filter 'rm x'",
		"git clone -q -c alias.p='!rm x' . y; cd y; git p",
		"git clone -q --config alias.p='!rm x' . y; cd y; git p",
		"setarch x86_64 rm x",
		"linux64 rm x",
		"choom -n 0 -- rm x",
		"sg root -c 'rm x'",
		"ssh-agent rm x",
		"env -vS \"r''m\" x",
		"eval \"'rm'\" x",
		"bash /dev/fd/3 3<<<'rm x'",
		"bash --rcfile <(echo rm x) -i <<<exit",
		"getopts 'x:' PS4\ndeclare -n r=PS4; r='$(rm x)'; set -x; ls",
		": ${PS4:='$(rm x)'}; unset PS4; : ${PS4:='$(rm x)'}; set -x; ls",
		"unset PS4; : ${PS4='$(rm x)'}; set -x; ls",
		"declare -n P=PS4; read P <<< '$(rm x)'; set -x; ls",
		"export $'PS4=$(rm x)'; set -x; ls",
		"export 'PS4=$(rm x)'; set -x; ls",
		"export \"PS\"\"4\"='$(rm x)'; set -x; ls",
		"x=a[\\$\\(rm\\ y\\)]; echo ${s:x}",
		"x=\"a[\\$(rm y)]\"; declare -i z=x",
		"x=\"a[\\$(rm y)]\"; local -i z=x; f() { local -i z=x; }; f",
		"x=\"a[\\$(rm y)]\"; declare -i z; z=x",
		"x=\"a[\\$(rm y)]\"; declare -i z; read z <<< x",
		"x=\"a[\\$(rm y)]\"; declare -i z; z+=x",
		"x=\"a[\\$(rm y)]\"; a=(1 2); echo ${a[@]:x}",
		"x=\"a[\\$(rm y)]\"; unset a[x]",
		"x=\"a[\\$(rm y)]\"; read a[x] <<< 1",
		"x=\"a[\\$(rm y)]\"; printf -v a[x] 1",
		"x=\"a[\\$(rm y)]\"; exec {a[x]}>f",
		"x=\"a[\\$(rm y)]\"; wait -n -p a[x]",
		"x=-exec; find . $x rm {} +",
		"echo 'm' | xargs -rI@ r@ x",
		"bash <<-E\n\trm x\nE",
		"nice -n 5 bash <<E\nrm x\nE",
		"env bash <<E\nrm x\nE",
		"env bash <<E\nr\\\\m x\nE",
		"timeout 3 bash <<E <<<'rm x'\nls\nE",
		"exec bash <<E\nr\\\\m x\nE",
		"command export 'PS4=$(rm x)'; set -x; ls",
		"'export' 'PS4=$(rm x)'; set -x; ls",
		"\\declare -i x; x='a[$(rm x)]'",
		"time -p -- rm x",
		"echo push | xargs -rI@ git @",
		"su -c \"r''m\"",
		"flock f -c \"r\\\\m\"",
		"eval \"'rm'\"",
		"eval \"r\\\\m\"",
		"p='$'; x=\"a[$p(rm y)]\"; ((x))",
		"printf -vPS4 '$(rm x)'; set -x; ls",
		"env 'PS4=$(rm x)' bash -xc ls",
		"declare -A BASH_CMDS=([ls]=/bin/rm); ls",
		"read BASH_CMDS[ls] <<< /bin/rm; ls",
		"printf -v 'BASH_CMDS[ls]' /bin/rm; ls",
		"for OPTIND in 'a[$(rm x)]'; do :; done",
		"read RANDOM <<< 'a[$(rm x)]'",
		"x='a[$(rm y)]'; declare -a z; z[x]=1",
		"x='a[$(rm y)]'; echo ${#z[x]}",
		"x='a[$(rm y)]'; echo ${!z[x]}",
		"x='a[$(rm y)]'; z=(1 2); echo \"${z[-x]}\"",
		"x='a[$(rm y)]'; set -- 1 2; echo \"${@:x}\"",
		"x='a[$(rm y)]'; echo ${z[x]:-1} ${z[x]/a/b}",
		"x='a[$(rm y)]'; typeset -ai z=(x)",
		"x='a[$(rm y)]'; typeset -ia z; z+=(x)",
		"x='a[$(rm y)]'; f() { local -i z; z=x; }; f",
		"x='a[$(rm y)]'; export z; declare +x -i z=x",
		"env -S 'git -C .' rm",
		"GIT_SEQUENCE_EDITOR='rm x' git rebase -i", "GIT_PAGER='rm x' git log", "EDITOR='rm x' git commit", "vim -c '!rm x'",
		"awk 'BEGIN{system(\"rm x\")}'", "sed -n '1e rm x' f", "tar --to-command='rm x' -xf f", "tar --checkpoint-action=exec='rm x' f",
		"rsync -e 'rm x' a b", "npx rm", "uv run rm x", "poetry run rm x", "docker run x rm y", "kubectl exec p -- rm x", "gdb -ex 'shell rm x'", "at now <<< 'rm x'",
		"mkdir q; cd q; touch rm; [\"r\"]m x",
		"{\"r\",x}m x",
		"\"r\"{m,x} x",
		"echo \"`r\\\"\\\"m x`\"",
		"echo $(bash <<E\nrm x\nE\n)",
		"echo \"${x-'$(rm x)'}\"",
		"echo ${x-'$(rm x)'}; echo \"${x:-'`rm y`'}\"",
		"echo \"${x#'$(rm x)'}\"; x=y; echo \"${x/'$(rm x)'/z}\" \"${x/y/'$(rm x)'}\"",
		"cat <<E\n\"${x-'$(rm x)'}\"\nE",
		"declare -a 'x=($(rm x))'",
		"declare -a \"x=(\\$(rm x))\"",
		"declare -A x='([a]=$(rm x))'",
		"readonly -a 'x=($(rm x))'",
		"f() { local -a 'x=(`rm x`)'; }; f",
		"exec 3<<<'rm x'; . /dev/fd/3",
		"exec 3<<<'rm x'; . ././//dev/fd/3",
		"exec 3<<<'rm x'; cd /; . dev/fd/3",
		"exec 3<<<'rm x'; cd /dev; bash fd/3",
		"exec 3<<<'rm x'; cd /dev/fd; . ./3",
		"echo 'rm x' | (cd /dev; bash stdin)",
		"echo rm x | xargs -x env",
		"echo rm x | xargs nice",
		"bash -c 'exec ~- x'",
		"find . -exec bash <<< 'rm x' ';'",
		"bash <<E\nbash <<< \"rm x\"\nE",
		"csh -c 'rm x'",
		"zsh -c '=rm x'",
		"fish -c 'not rm x'",
		"env -S'r\\_m' x",
		"git clone ext::rm x",
		"git -c gpg.ssh.defaultKeyCommand=rm log",
		"git -c submodule.x.update=!rm submodule update",
		"git -c interactive.diffFilter=rm add -p",
		"GIT_ALLOW_PROTOCOL=ext git fetch ext::rm",
		"git fetch --upl=rm .",
		"git push --rec rm .",
		"git rebase -qx rm HEAD~1",
		"git send-email --to-cmd=rm x",
	} {
		if rm, push := answers(t, line); rm == No && push == No {
			t.Errorf("%q passes", line)
		}
	}
}

// What is worked out is so only where nothing else in the line can give it another meaning.
func TestWhatMayBeOtherwiseIsUndecided(t *testing.T) {
	for _, line := range []string{
		"A=x; read A <<< y; $A", "A=ls; A=rm; $A x", "A=ls; f() { A=rm; }; f; $A x", "for A in ls rm; do $A x; done", "A=ls; for i in 1 2; do B=$A; $B x; A=rm; done",
		"A=ls; eval A=rm; $A x", "A=ls; source f; $A x", "A=ls; printf -v A rm; $A x", "A=ls; unset A; $A x", "A=ls; export \"A=$B\"; $A x", "A=ls; declare -n B=A; B=rm; $A x",
		"A=ls true; $A x", "true && A=ls; $A x", "if true; then A=ls; fi; $A x", "(A=ls); $A x", "A=ls | cat; $A x", "A=ls & $A x", "A+=s; $A x", "A=(ls); $A x", "$A x; A=ls",
		"IFS=l; A=lrm; $A x", "A=r*; $A x", "A=ls; ((A=1)); $A x", "A=ls; command read A; $A x", "A=ls; \\read A; $A x", "A=ls; $B A; $A x", "A=ls; let A=1; $A x", ": ${A:=rm}; $A x",
		"echo() { printf rm; }; $(echo ls) x", "alias echo='printf rm'; $(echo ls) x", "cd x; echo() { echo rm; }; echo ls | sh", "git $A push", "git \"$A\" push origin", "git -C $A $B",
		"shopt -s expand_aliases; alias a=rm\na x", "[\"r\"]m x", "$\"rm\" x", "~ x", "~+ x", "$A/rm x", "\"$A/rm\" x", "\"$A\" x", "\"$A\"m x", "r$A x", "r\"$A\" x", "${A}m x", "*m x", "r? x", "/b*/r? x",
	} {
		if rm, push := answers(t, line); rm == No && push == No {
			t.Errorf("%q passes", line)
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
		"curl -s x | jq .", "cat ~/x", "~/bin/tool x", "find \"$DIR\" -name '*.go'", "find . -name \"$P\" -print", "echo `date`", "echo \"`git log`\"",
		"git rebase -X ours main", "git checkout -b fix/exec", "git log --exec-path", "git clone --depth 1 -b x y", "git grep -n foo",
		"git commit -m 'fix `x`'; echo ${a[0]} ${#a[@]}", "git show HEAD@{1}", "read -r a b <<< \"$x\"", "wait $pid", "export A=\"$B\"", "declare -i n=3",
		"bash <<'E'\nls \"$X\"\nE", "bash <<E\nls -l\nE", "sudo -u x ls", "zsh -c 'git status'", "test -f \"$x\"", "[ \"$x\" = y ] && ls", "find . -name x -exec ls {} ';'",
		"timeout 5 go test ./...", "i=0; i=$((i+1)); echo ${s:0:3}", "source ~/venv/bin/activate2", "printf '%s' \"$RANDOM\"",
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
		"find . -delete", "git subtree push", "perl -e 'unlink x'", "history -s rm; !!", "cat f > x.py; python3 f.py", "ssh -F config host", "npm run clean",
		"crontab - <<< '* * * * * rm x'",
	} {
		if rm, push := answers(t, line); rm != No || push != No {
			t.Errorf("%s is found: move it to TestEvasions", line)
		}
	}
}
