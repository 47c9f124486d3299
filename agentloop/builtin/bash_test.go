package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/protocol"
)

// judgeOf is the policy's answer to commands, as a hook gives it.
func judgeOf(t testing.TB, policy BashPolicy) func(command string) protocol.Reply {
	t.Helper()
	p, err := Bash(policy)
	if err != nil {
		t.Fatal(err)
	}
	return func(command string) protocol.Reply {
		data, err := protocol.Marshal(map[string]any{"args": map[string]string{"command": command}})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := p.Hooks[0].Func(context.Background(), &protocol.Event{Event: protocol.ToolCallStart, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if reply.Action == "" {
			reply.Action = protocol.Observe
		}
		return reply
	}
}

func TestBashDeny(t *testing.T) {
	const no, ask, yes = protocol.Block, protocol.Ask, protocol.Observe
	judge := judgeOf(t, BashPolicy{Deny: []string{"rm", "git push", "curl *", "/dd .*of=.*/", "shutdown *", "cat */etc/shadow*"}})
	var manyFiles string // more than are kept
	for n := range 120 {
		manyFiles += fmt.Sprintf("echo ls >f%d; ", n)
	}
	for command, want := range map[string]protocol.Action{
		// what Walk of the shell's parser leaves out, and commands in one word with an option
		"echo ${a:$(git push)}":         no,
		"echo ${a:0:$(rm x)}":           no,
		"echo \"${a:$(( $(rm x) ))}\"":  no,
		"echo ${a:1:2}":                 yes,
		"env --split-string='git push'": no,
		"env -S'git push'":              no,
		"script -c'rm x'":               no,
		"setpriv rm x":                  no,
		// what git is given to run
		"git -c alias.p=push p":                      no,
		"git -c 'alias.p=!rm x' p":                   no,
		"git -c alias.l=log l":                       yes,
		"git rebase -x 'git push'":                   no,
		"git rebase --exec='rm x' main":              no,
		"git bisect run rm x":                        no,
		"git submodule foreach --recursive git push": no,
		"git clean -x":                               yes,
		"git clean -x -d":                            yes,
		"git commit -m run":                          yes,
		"git log -x \"don't\"":                       yes,

		// plain
		"rm":                       no,
		"rm -rf /":                 no,
		"  rm   -rf  /  ":          no,
		"ls":                       yes,
		"rmdir x":                  yes,
		"git status":               yes,
		"git push":                 no,
		"git   push origin":        no,
		"git pushx":                yes,
		"curl http://x":            no,
		"curl":                     yes,
		"dd if=a of=b":             no,
		"dd if=a":                  yes,
		"cat /etc/shadow":          no,
		"echo rm":                  yes,
		"grep rm file":             yes,
		`git commit -m "rm x"`:     yes,
		"echo 'a; rm -rf /'":       yes,
		"# rm -rf /":               yes,
		"cat <<EOF\nrm x\nEOF":     yes,
		"echo $HOME":               yes,
		"echo $(date)":             yes,
		"for f in a b; do :; done": yes,
		// compound
		"true && rm -rf /":           no,
		"false || rm -rf /":          no,
		"ls; rm x":                   no,
		"ls & rm x":                  no,
		"ls\nrm x":                   no,
		"ls | rm x":                  no,
		"(rm x)":                     no,
		"{ rm x; }":                  no,
		"! rm x":                     no,
		"time rm x":                  no,
		"if true; then rm x; fi":     no,
		"for f in *; do rm $f; done": no,
		"while rm x; do :; done":     no,
		"case a in a) rm x;; esac":   no,
		"f() { rm x; }; f":           no,
		"coproc rm x":                no,
		"echo $(rm x)":               no,
		"echo `rm x`":                no,
		`echo "$(rm x)"`:             no,
		"cat <(rm x)":                no,
		"echo ${X:-$(rm x)}":         no,
		"X=$(rm x)":                  no,
		"echo $((1 + $(rm x)))":      no,
		"[[ -n $(rm x) ]]":           no,
		"cat <<EOF\n$(rm x)\nEOF":    no,
		"true > $(rm x)":             no,
		"a=(1 $(rm x))":              no,
		// quoting tricks
		`r\m x`:                 no,
		`\rm x`:                 no,
		`"rm" x`:                no,
		`'r'"m" x`:              no,
		`r""m x`:                no,
		`$'rm' x`:               no,
		`$'\x72\x6d' x`:         no,
		`$'\u0072\U0000006d' x`: no,
		`$'\0'`:                 yes,
		`$'\xzz'`:               yes,
		`$'\162m' x`:            no,
		"rm \\\n -rf /":         no,
		"r\\\nm x":              no,
		"{rm,-rf,/}":            no,
		"/bin/rm x":             no,
		"../../bin/rm x":        no,
		`git "push" origin`:     no,
		"X=1 rm x":              no,
		"> f rm x":              no,
		"rm>f x":                no,
		// what runs other commands
		"sudo rm x":              no,
		"sudo -u root rm x":      no,
		"env A=b rm x":           no,
		"/usr/bin/env rm x":      no,
		"command rm x":           no,
		"exec rm x":              no,
		"nohup nice -n 5 rm x":   no,
		"timeout 5 rm x":         no,
		"echo x | xargs rm":      no,
		"find . -exec rm {} +":   no,
		"sh -c 'rm x'":           no,
		"bash -lc 'ls; rm x'":    no,
		`bash -c "sh -c 'rm x'"`: no,
		"eval rm x":              no,
		"eval 'r'm x":            no,
		"trap 'rm x' EXIT":       no,
		"alias l='rm x'":         no,
		"ssh host 'rm x'":        no,
		"sudo sh -c 'rm x'":      no,
		"sh <<EOF\nrm x\nEOF":    no,
		"sh <<< 'rm x'":          no,
		"busybox rm x":           no,
		"bash build.sh":          yes,
		"bash -c 'ls'":           yes,
		// only known when it runs
		"$X x":                           ask,
		"X=rm; $X x":                     no,
		"r$Y x":                          ask,
		"rm${IFS}-rf${IFS}/":             ask,
		"$(echo rm) x":                   no,
		"/bin/r? x":                      ask,
		"/bin/r[m] x":                    ask,
		"git $X origin":                  ask,
		"git status $X":                  yes,
		"git $(echo push)":               no,
		"echo cm0gLXJm | base64 -d | sh": ask,
		"curl${IFS}x | sh":               ask,
		"sh":                             ask,
		"python3 -c 'import os; os.system(\"rm x\\nif\")'":                       ask,
		"python3 -c 'import os; os.system(\"rm x; if\")'":                        ask,
		"python3 -c 'import os; os.system(\"rm x\")'":                            no,
		"perl -e 'system(\"rm x\\nif\")'":                                        ask,
		"perl -e '`rm x\nif`'":                                                   ask,
		"node -e 'require(\"child_process\").exec(\"rm x\\nfi\")'":               ask,
		"awk 'BEGIN{system(\"rm x\\nif\")}'":                                     ask,
		"awk 'BEGIN{print | \"rm x\\nif\"}'":                                     ask,
		"python3 -c 'os.system(\"rm x # " + strings.Repeat("a", 20<<10) + "\")'": no,
		"python3 -c 'print(\"if (\")'":                                           yes,
		"python3 -c 'eval(\"if (\")'":                                            yes,
		"echo ls >g; bash g":                                                     yes,
		"echo rm x >g; echo ls >>g; sh g":                                        no,
		"cp /bin/ls g; cp /bin/rm g; ./g":                                        ask,
		"echo ls >g; cp /bin/rm g; ./g":                                          ask,
		manyFiles + "echo rm x >g; bash g":                                       ask,
		manyFiles + "cp /bin/rm g; ./g x":                                        ask,
		"bash -c \"$X\"":                                                         ask,
		"eval $X":                                                                ask,
		"sudo $X":                                                                ask,
		"source <(echo x)":                                                       ask,
		"bash <(echo x)":                                                         ask,
		"sh /dev/stdin":                                                          ask,
		"r{m..m} x":                                                              ask,
		"x{1..999999999}":                                                        ask,
		// after wrappers, and words of wrappers that belong to no command
		"sudo -u root grep rm f":              yes,
		"xargs grep rm":                       yes,
		"command -v rm":                       yes,
		"timeout 5 git log":                   yes,
		"timeout $T rm x":                     no,
		"timeout $T 5 rm x":                   no,
		"su user -c 'rm x'":                   no,
		"su - user --command='rm x'":          no,
		"flock f -c 'rm x'":                   no,
		"ssh -p 22 host A=1 rm x":             no,
		"ssh host 'A=1; rm x'":                no,
		"ssh host ls \"$X\"":                  ask,
		"eval 'A=1; rm x'":                    no,
		"echo push | xargs -I% git %":         ask,
		"echo push | xargs -I% sh -c 'git %'": ask,
		"find . -exec sh -c 'git {}' ;":       ask,
		"find . -name rm -print":              yes,
		"bash -o pipefail -c 'ls | rm x'":     no,
		"bash -c -e 'rm x'":                   no,
		"git config alias.p push; git p":      no,
		"git -c core.pager='rm x' log":        no,
		"git -c user.name=x commit":           yes,
		// a pattern that is open in front may match every word that is not literal
		"cat $X":    ask,
		"cat *.txt": yes,
		// not readable as bash
		"echo 'abc":                        ask,
		"if true":                          ask,
		"echo 'abc; rm x":                  no,
		"then rm x":                        no,
		strings.Repeat("$(", 9000):         ask,
		strings.Repeat("a;", 5000):         ask,
		strings.Repeat("{a,b}", 1000):      ask,
		strings.Repeat("(", 2000) + "rm x": no,
		"echo " + strings.Repeat("a", 1<<20) + "; rm x":  no,
		"xargs git " + strings.Repeat("a ", 8000):        yes,
		"git" + strings.Repeat(" -c a=b", 200) + " push": ask,
	} {
		began := time.Now()
		reply := judge(command)
		if reply.Action != want {
			t.Errorf("%q: %s (%s), want %s", shortened(command), reply.Action, shortened(reply.Reason), want)
		}
		if want != yes && reply.Reason == "" {
			t.Errorf("%q: no reason", shortened(command))
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%q took %s", shortened(command), took)
		}
	}
}

func TestBashAllow(t *testing.T) {
	const ask, yes, no = protocol.Ask, protocol.Observe, protocol.Block
	judge := judgeOf(t, BashPolicy{
		Deny:  []string{"rm"},
		Allow: []string{"eval $X", "ls", "ls *", "echo *", "git status", "/go (test|build) [a-z.\\/]*/", "make * > build.log", "cd sub && make", "rm *"},
	})
	for command, want := range map[string]protocol.Action{
		"ls":                           yes,
		"ls -la":                       yes,
		"ls && echo hi":                yes,
		"ls | echo x; ls":              yes,
		"echo $HOME":                   yes,
		"echo $(ls)":                   yes,
		"git status":                   yes,
		"git  'status'":                yes,
		"go test ./...":                yes,
		"make all > build.log":         yes,
		"cd sub && make":               yes,
		"ls > /dev/null 2>&1":          yes,
		"for f in a b; do ls $f; done": yes,
		"git status -s":                ask,
		"cat x":                        ask,
		"ls; cat x":                    ask,
		"ls && cat x":                  ask,
		"echo $(cat x)":                ask,
		"echo `cat x`":                 ask,
		"ls\ncat x":                    ask,
		"echo x > ~/.bashrc":           ask,
		"echo x >> ~/.bashrc":          ask,
		"ls &> f":                      ask,
		"> f":                          ask,
		"{ ls; } > f":                  ask,
		"make all > x > build.log":     ask,
		"PATH=/tmp ls":                 ask,
		"PATH=/tmp; ls":                ask,
		"export PATH=/tmp; ls":         ask,
		"alias ls='cat x'; ls":         ask,
		"ls() { cat x; }; ls":          ask,
		"eval $X":                      yes, // the line itself is listed
		"ls; eval $X":                  ask,
		"./ls":                         ask,
		"/tmp/ls":                      ask,
		"$X":                           ask,
		"l? x":                         ask,
		"bash -c ls":                   ask,
		"echo 'x":                      ask,
		"go vet ./...":                 ask,
		"rm x":                         no,
		"ls; rm x":                     no,
	} {
		if reply := judge(command); reply.Action != want {
			t.Errorf("%q: %s (%s), want %s", command, reply.Action, reply.Reason, want)
		}
	}
}

func TestBashSays(t *testing.T) {
	for _, c := range []struct {
		policy  BashPolicy
		command string
		want    protocol.Reply
	}{
		{BashPolicy{}, "rm -rf /", protocol.Reply{}},
		{BashPolicy{Deny: []string{"rm"}}, "ls && rm -rf /", protocol.Reply{
			Action: protocol.Block, Reason: "the command is denied: `rm -rf /` matches \"rm\" of agent.tools.bash.deny",
		}},
		{BashPolicy{Allow: []string{"ls"}}, "cat x", protocol.Reply{
			Action: protocol.Ask, Reason: "`cat x` is not among the commands that run without asking (agent.tools.bash.allow)",
		}},
		{BashPolicy{Report: []string{".acai"}}, "cat .acai/x", protocol.Reply{
			Notice: "this command names .acai, which holds hooks, settings or records of hookd: cat .acai/x",
		}},
		{BashPolicy{Mentions: placesAre("shared/x")}, "true | tee 'shared'/x", protocol.Reply{
			Notice: "this command names shared/x, where hooks, their settings or what git runs lie: true | tee 'shared'/x",
		}},
		{BashPolicy{Mentions: placesAre("shared/x")}, "sh -c 'echo >shared/x'", protocol.Reply{
			Notice: "this command names shared/x, where hooks, their settings or what git runs lie: sh -c 'echo >shared/x'",
		}},
		{BashPolicy{Mentions: placesAre("shared/x")}, "dd if=y of=shared/x", protocol.Reply{
			Notice: "this command names shared/x, where hooks, their settings or what git runs lie: dd if=y of=shared/x",
		}},
		{BashPolicy{Mentions: placesAre("shared/x")}, "echo $shared/x", protocol.Reply{}},
	} {
		got := judgeOf(t, c.policy)(c.command)
		if got.Action == protocol.Observe {
			got.Action = ""
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.command, diff)
		}
	}
	if _, err := Bash(BashPolicy{Deny: []string{"ls", "/(/"}}); err == nil || !strings.HasPrefix(err.Error(), "agent.tools.bash.deny[1]: ") {
		t.Errorf("a pattern that is none: %v", err)
	}
}

// Whatever stands before a denied command, it is not run without a question.
func FuzzBashDeny(f *testing.F) {
	for _, seed := range []string{"ls", "echo 'x", "cat <<EOF\n", "f() {", "x{a,b}", "$'\\xff%d'", "sh -c 'sh -c \"ls\"'", "eval eval eval", "alias a=", "((1", "find . -exec", "a=(", "\\"} {
		f.Add(seed)
	}
	judge := judgeOf(f, BashPolicy{Deny: []string{"rm", "/mkfs.*/"}, Allow: []string{"ls *", "rm *", "echo"}})
	f.Fuzz(func(t *testing.T, before string) {
		if judge(before); splitFails(before) {
			return
		}
		if reply := judge("rm x\n" + before); reply.Action != protocol.Block {
			t.Errorf("%q: %s", "rm x\n"+before, reply.Action)
		}
	})
}

func splitFails(text string) bool {
	err := shellwords.Split(text).Err
	return err != nil
}

// The lists' questions are those of the layer that wrote them: the mode allow of
// a layer below does not answer them, nor does a hook of one.
func TestBashAsksForTheLayerOfItsLists(t *testing.T) {
	for _, c := range []struct {
		lists, allows protocol.Layer
		want          protocol.Action
	}{
		{protocol.Managed, protocol.User, protocol.Observe},
		{protocol.Managed, protocol.Managed, protocol.Allow},
		{protocol.User, protocol.User, protocol.Allow},
		{protocol.User, protocol.Project, protocol.Observe},
		{"", protocol.Project, protocol.Observe}, // a project grants what its own hooks ask
		{"", protocol.User, protocol.Allow},
	} {
		bash, err := Bash(BashPolicy{Allow: []string{"ls"}, Layer: c.lists})
		if err != nil {
			t.Fatal(err)
		}
		allow := protocol.GoHook{
			Name: "yes", Layer: c.allows, Events: []protocol.EventName{protocol.PermissionRequest}, Can: protocol.CanBlock,
			Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
				return protocol.Reply{Action: protocol.Allow}, nil
			},
		}
		gate, err := executor.Static(append(bash.Hooks, allow)...)
		if err != nil {
			t.Fatal(err)
		}
		_, ev := request(t, "bash", "bash", `{"command":"rm x"}`)
		outcome, err := gate.Fire(t.Context(), ev)
		if err != nil || outcome.Action != c.want {
			t.Errorf("lists of %q, allowed by %q: %s %v", c.lists, c.allows, outcome.Action, err)
		}
	}
}

// Bash runs commands that stand in what it takes for arithmetic, and programs by
// the PATH that a loop sets: none of that is among the commands allowed.
func TestBashAllowHoldsForWhatIsEvaluated(t *testing.T) {
	judge := judgeOf(t, BashPolicy{Allow: []string{"ls", "ls *", "echo *", "[[ -f *", "(( i++ ))", "i=0"}})
	for command, want := range map[string]protocol.Action{
		"[[ 'a[$(rm x)]' -eq 0 ]]":                  protocol.Ask,
		"[[ 0 -lt 'a[$(rm x)]' ]]":                  protocol.Ask,
		"[[ -v 'a[$(rm x)]' ]]":                     protocol.Ask,
		"let 'x[$(rm x)]=1'":                        protocol.Ask,
		"(( 'x[$(rm x)]' ))":                        protocol.Ask,
		"ls ${PWD:'a[$(rm x)]'}":                    protocol.Ask,
		"ls $[ 'a[$(rm x)]' ]":                      protocol.Ask,
		"echo $(( $(echo 'a[$(rm x)]') ))":          protocol.Ask,
		`echo $(( a[\$(rm x)] ))`:                   protocol.Ask,
		"for x in 'a[$(rm x)]'; do (( x )); done":   protocol.Ask,
		"echo ${x:='a[$(rm x)]'} $(( x ))":          protocol.Ask,
		"for x in '$(rm x)'; do echo ${x@P}; done":  protocol.Ask,
		"for (( 'a[$(rm x)]'; 0; 0 )); do ls; done": protocol.Ask,
		"for PATH in .; do ls; done":                protocol.Ask,
		"select BASH_ENV in x; do ls; done":         protocol.Ask,
		"for f in *; do ls $f; done":                protocol.Observe,
		"echo $(( 1 + (n * 3) )) ${PWD:1:3}":        protocol.Observe,
		"for (( i=0; i<3; i++ )); do ls; done":      protocol.Observe,
		"[[ $x == y && 1 -lt 2 ]] || ls":            protocol.Observe,
		"i=0; (( i++ )); echo ${a[@]} ${a[0]}":      protocol.Observe,
	} {
		if got := judge(command).Action; got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// Builtins and variables of the shell that run a command which is given to them
// as a word: it is found, or asked about.
func TestBashDenyHoldsForBuiltins(t *testing.T) {
	const no, ask, yes = protocol.Block, protocol.Ask, protocol.Observe
	judge := judgeOf(t, BashPolicy{Deny: []string{"rm", "git push", "git reset --hard *"}})
	for command, want := range map[string]protocol.Action{
		// given as a word
		"mapfile -C 'git push' -c 1 x < f":     ask,
		"mapfile -c 1 -C rm < f":               ask,
		"mapfile -tC rm < f":                   ask,
		"readarray -Crm < f":                   ask,
		"mapfile -C git -c 1 < f":              ask,
		"mapfile -C $X < f":                    ask,
		"mapfile -t lines < f":                 yes,
		"compgen -C 'rm x'":                    ask,
		"compgen -C 'git status'":              ask,
		"compgen -A function":                  yes,
		"compgen -W '$(rm x)'":                 ask,
		"complete -C 'rm x' ls":                ask,
		"builtin compgen -C 'rm x'":            ask,
		"builtin mapfile -C gi'{t' < f":        ask,
		"command builtin hash -p /bin/git g":   ask,
		"hash -p /bin/rm ls; ls x":             ask,
		"hash -p /usr/bin/git g; g push":       ask,
		"hash -r":                              yes,
		"enable -f ./x.so x":                   ask,
		"enable -n echo":                       yes,
		"bind -x '\"\\C-a\": rm x'":            ask,
		"fc -s":                                ask,
		"alias g=git; g push":                  ask,
		"alias g='git pu''sh'":                 no,
		"alias ll='ls -l'":                     yes,
		"trap 'git push' EXIT":                 no,
		"trap - EXIT":                          yes,
		"coproc git push":                      no,
		"echo push | xargs git":                ask,
		"echo a | xargs -n 1 echo":             yes,
		"find push -exec git {} ;":             ask, // as the next, but for the folder
		"find . -name x -exec git {} ;":        yes,
		"find . -name '*.go' -exec wc -l {} +": yes,
		"parallel git ::: push":                ask,
		"pkexec rm x":                          no,
		// evaluated once more
		"PS4='$(rm x)'; set -x; ls":                 ask,
		"PS4='+ '; set -x; ls":                      ask,
		"PS4=$X; set -x; ls":                        ask,
		"PS4='$(rm x)' bash -xc ls":                 ask,
		"export PS4='`rm x`'; set -x":               ask,
		"read PS4 <<< '$(rm x)'; set -x; ls":        ask,
		"for PS4 in '$(rm x)'; do set -x; ls; done": ask,
		"PROMPT_COMMAND='git push' bash -i":         ask,
		"BASH_ENV=$X bash -c ls":                    ask,
		"ENV=prod make":                             yes,
		"printf -v 'a[$(rm x)]' %s x":               ask,
		"printf '%s\\n' \"$(date)\"":                yes,
		"printf 'see $(date)'":                      yes,
		"read 'a[$(rm x)]' < f":                     ask,
		"unset 'a[$(rm x)]'":                        ask,
		"declare 'a[$(rm x)]=1'":                    ask,
		"test -v 'a[$(rm x)]'":                      ask,
		"[ -v 'a[`rm x`]' ]":                        ask,
		"[[ 'a[$(rm x)]' -eq 0 ]]":                  ask,
		"x='a[$(rm x)]'; (( x ))":                   ask,
		`x=a[\$(rm\ x)]; echo $(( x ))`:             ask,
		"for x in 'a[$(rm x)]'; do (( x )); done":   ask,
		"echo $(( $(date +%s) + 1 )) ${a[$i]}":      yes,
		"awk '{print $(NF)}' f":                     yes,
		"let i=i+1":                                 yes,
		// options before the word that decides
		"git -C . push":                          no,
		"git -C . -c a=b --no-pager push origin": no,
		"git --git-dir=x push":                   no,
		"/usr/bin/git -C sub push":               no,
		"git -C . reset --hard HEAD":             no,
		"git -C . reset --soft HEAD":             yes,
		"git -C . status":                        yes,
		"git log --grep push":                    yes,
		"git commit -m push":                     yes,
		"git -C . $X":                            ask,
		"git -C $X push":                         no,
		"git -C $X status":                       ask,
		"sudo git -C . push":                     no,
	} {
		if reply := judge(command); reply.Action != want {
			t.Errorf("%q: %s (%s), want %s", command, reply.Action, reply.Reason, want)
		}
	}
}

// placesAre mentions one place by its name.
func placesAre(place string) func([]string) string {
	return func(words []string) string {
		if slices.Contains(words, place) {
			return place
		}
		return ""
	}
}
