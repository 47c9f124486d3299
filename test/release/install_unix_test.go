//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whatever is wrong: a clear error, and everything is as it was.
func TestAFailedInstallationChangesNothing(t *testing.T) {
	big := maps.Clone(newPair)
	big["hookd"] += "# " + strings.Repeat("large ", 1<<16) + "\n"
	for name, test := range map[string]struct {
		change func(in *installation)
		args   []string
		code   int // 1 if 0
		says   string
	}{
		"a download that was cut off": {says: "is not what SHA256SUMS says", change: func(in *installation) {
			in.cut(in.archive("1.2.3"), 100)
		}},
		"an archive of another release": {says: "is not what SHA256SUMS says", change: func(in *installation) {
			kept := in.read("SHA256SUMS")
			in.pack("1.2.3", oldPair)
			in.write(filepath.Join(in.release, "SHA256SUMS"), kept)
		}},
		"no sums": {says: "there is no file", change: func(in *installation) { in.remove("SHA256SUMS") }},
		"empty sums": {says: "has no sum for hookd-VERSION-", change: func(in *installation) {
			in.cut("SHA256SUMS", 0)
		}},
		"sums that were cut off in a name": {says: "has no sum for hookd-", change: func(in *installation) {
			in.cut("SHA256SUMS", 64+2+12)
		}},
		"a sum that is too short": {says: "has no SHA-256 sum for", change: func(in *installation) {
			in.write(filepath.Join(in.release, "SHA256SUMS"), "0123abcd  "+in.archive("1.2.3")+"\n")
		}},
		"a sum that is none": {says: "has no SHA-256 sum for", change: func(in *installation) {
			in.write(filepath.Join(in.release, "SHA256SUMS"), strings.Repeat("*", 64)+"  "+in.archive("1.2.3")+"\n")
		}},
		"two releases in one folder": {says: "say which with --version", change: func(in *installation) {
			first := in.read("SHA256SUMS")
			in.pack("1.3.0", newPair)
			in.write(filepath.Join(in.release, "SHA256SUMS"), first+in.read("SHA256SUMS"))
		}},
		"a name that leads elsewhere": {says: "outside of the release", change: func(in *installation) {
			in.write(filepath.Join(in.release, "SHA256SUMS"), strings.Repeat("0", 64)+"  hookd-../../"+in.archive("1.2.3")+"\n")
		}},
		"another version":          {says: "has no sum for hookd-9.9.9-", args: []string{"--version", "v9.9.9"}},
		"no archive":               {says: "there is no file", change: func(in *installation) { in.remove(in.archive("1.2.3")) }},
		"no folder with a release": {says: "there is no file /nowhere/SHA256SUMS", args: []string{"--from", "/nowhere"}},
		"an archive with one program": {says: "cannot unpack", change: func(in *installation) {
			in.pack("1.2.3", map[string]string{"hookd": newPair["hookd"]})
		}},
		"a program that is a link": {says: "has no program hookd-bridge", change: func(in *installation) {
			in.packLink()
		}},
		"a program that does not run": {says: "does not run in", change: func(in *installation) {
			in.pack("1.2.3", map[string]string{"hookd": "#!/bin/sh\necho no such processor >&2; exit 7\n", "hookd-bridge": "x"})
		}},
		"a full disk, at the download": {says: "cannot copy", change: func(in *installation) {
			in.programs["cp"] = "#!/bin/sh\necho cp: no space left on device >&2; exit 1\n"
		}},
		"a full disk, when it unpacks": {says: "is the disk full?", change: func(in *installation) {
			in.pack("1.2.3", big)
			in.programs["tar"] = "#!/bin/sh\nulimit -f 64; PATH=$REAL exec tar \"$@\"\n"
		}},
		"a target that is a file":           {says: "cannot make the folder", args: []string{"--to", "release/SHA256SUMS"}},
		"a target below a file":             {says: "cannot make the folder", args: []string{"--to", "release/SHA256SUMS/bin"}},
		"a folder where hookd goes":         {says: "hookd is a folder", change: func(in *installation) { in.folder("hookd") }},
		"a folder where hookd-bridge goes":  {says: "hookd-bridge is a folder", change: func(in *installation) { in.folder("hookd-bridge") }},
		"the first program cannot be moved": {says: "cannot replace", change: func(in *installation) { in.failingMove("hookd-bridge") }},
		"the second cannot be moved":        {says: "cannot replace", change: func(in *installation) { in.failingMove("hookd") }},
		"the second of a first pair cannot be moved": {says: "cannot replace", change: func(in *installation) {
			in.empty()
			in.failingMove("hookd")
		}},
		"another system":     {says: "there is no archive for Plan9;", change: func(in *installation) { in.system("Plan9", "x86_64") }},
		"another processor":  {says: "there is no archive for Linux on s390x", change: func(in *installation) { in.system("Linux", "s390x") }},
		"Windows":            {says: "on Windows unpack hookd-", change: func(in *installation) { in.system("MINGW64_NT-10.0", "x86_64") }},
		"no uname":           {says: "uname does not say", change: func(in *installation) { in.programs["uname"] = "#!/bin/sh\nexit 1\n" }},
		"nothing that sums":  {says: "this needs sha256sum or shasum", change: func(in *installation) { in.onlyPrograms() }},
		"a failing download": {says: "cannot download https://example.com/x/SHA256SUMS", args: []string{"--from", "https://example.com/x/"}, change: func(in *installation) { in.programs["curl"] = "#!/bin/sh\nexit 22\n" }},
		"neither curl nor wget": {says: "this needs curl or wget", args: []string{"--from", "https://example.com/x"}, change: func(in *installation) {
			in.onlyPrograms()
			in.programs["sha256sum"] = "#!/bin/sh\n"
		}},
		"without encryption":     {says: "neither a folder nor an https address", code: 2, args: []string{"--from", "http://example.com"}},
		"an address with a %":    {says: "write the folder as it is", code: 2, args: []string{"--from", "file:///a%20b"}},
		"an unknown argument":    {says: "unknown argument --dir", code: 2, args: []string{"--dir", "x"}},
		"an argument too few":    {says: "--version needs a value", code: 2, args: []string{"--version"}},
		"a version that is none": {says: "is no version", code: 2, args: []string{"--version", "1/../2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := newInstallation(t)
			if test.change != nil {
				test.change(in)
			}
			before := tree(t, filepath.Dir(in.to))
			if test.code == 2 {
				in.finish(in.command(test.args...))
			} else {
				in.run(test.args...)
			}
			if in.code != max(test.code, 1) || !strings.Contains(in.err, test.says) || in.out != "" {
				t.Errorf("exit code %d\n%s%s", in.code, in.out, in.err)
			}
			if test.code == 0 && !strings.HasSuffix(in.err, "\nNothing was installed or changed.\n") {
				t.Errorf("it said %q", in.err)
			}
			after := tree(t, filepath.Dir(in.to))
			maps.DeleteFunc(after, func(name, _ string) bool { return strings.HasPrefix(name, "programs") })
			if !maps.Equal(before, after) {
				t.Errorf("the folders changed from\n%v\nto\n%v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
			}
		})
	}
}

func TestInstallReplacesBothPrograms(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	in.run()
	in.succeeded(in.to)
	for _, part := range []string{in.to + "/hookd\n", in.to + "/hookd-bridge\n", "They replaced those that were there.\n", "not on your PATH", "export PATH=" + in.to + ":$PATH\n"} {
		if !strings.Contains(in.out, part) {
			t.Errorf("%q is missing in\n%s", part, in.out)
		}
	}
}

func TestInstallGoesToTheHomeOfThePerson(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	bin := filepath.Join(in.home, ".local", "bin")
	in.path = bin + ":" + os.Getenv("PATH")
	in.finish(in.command("--from", "release", "--version", "1.2.3"))
	in.succeeded(bin)
	for _, part := range []string{"replaced", "PATH", "Your shell finds"} {
		if strings.Contains(in.out, part) {
			t.Errorf("it speaks of %q:\n%s", part, in.out)
		}
	}
	cmd := in.command("--from", "release")
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "HOME=") })
	if in.finish(cmd); in.code != 2 || !strings.Contains(in.err, "HOME is not set") {
		t.Errorf("exit code %d\n%s", in.code, in.err)
	}
}

func TestInstallNamesAnotherHookdThatIsFoundFirst(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	in.programs["hookd"] = "#!/bin/sh\n"
	in.path = in.to + ":" + os.Getenv("PATH")
	in.run()
	in.succeeded(in.to)
	if first := filepath.Join(filepath.Dir(in.to), "programs", "hookd"); !strings.Contains(in.out, "finds another one first: "+first+"\n") {
		t.Errorf("it said\n%s", in.out)
	}
}

// The line that removes the programs works as it is printed, with blanks and quotes in
// the path, and so does the one that puts them on PATH.
func TestInstallPrintsLinesToPaste(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	odd := filepath.Join(filepath.Dir(in.to), "it's a $HOME folder; with \"all\" of it")
	if err := os.Rename(in.release, odd); err != nil {
		t.Fatal(err)
	}
	in.release = odd
	in.run("--from", "file://"+odd, "--to", filepath.Join(odd, "new bin"))
	in.succeeded(filepath.Join(odd, "new bin"))
	for line := range strings.Lines(in.out) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "export PATH=") && !strings.HasPrefix(line, "rm ") {
			continue
		}
		out, err := exec.Command("/bin/sh", "-c", line+"\ncommand -v hookd-bridge || echo none").CombinedOutput()
		want := map[bool]string{true: filepath.Join(odd, "new bin", "hookd-bridge"), false: "none"}[strings.HasPrefix(line, "export")]
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %v, %s", line, err, out)
		}
	}
	if left := tree(t, filepath.Join(odd, "new bin")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// Nobody may read what it says: the programs are in place, and nothing else is left.
func TestInstallThatNobodyListensTo(t *testing.T) {
	t.Parallel()
	for _, broken := range []bool{false, true} {
		in := newInstallation(t)
		if broken {
			in.remove("SHA256SUMS")
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		cmd := in.command("--from", in.release, "--to", in.to)
		cmd.Stdout, cmd.Stderr = writer, writer
		_ = cmd.Run() // by its exit code nobody heard, or the installation failed
		_ = writer.Close()
		if got, want := tree(t, in.to), map[bool]map[string]string{false: newPair, true: oldPair}[broken]; !maps.Equal(got, want) {
			t.Errorf("the folder holds %q", got)
		}
	}
}

// A name in place of a program may lead elsewhere, as Homebrew's do. What it leads to
// belongs to somebody else.
func TestInstallReplacesALinkAndNotWhatItLeadsTo(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	other := filepath.Join(in.home, "other")
	in.write(other, "theirs")
	in.failingMove("hookd")
	for _, to := range []string{other, filepath.Join(in.home, "nowhere")} {
		link := filepath.Join(in.to, "hookd-bridge") // which is renamed first
		if err := errors.Join(os.Remove(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
		if in.run(); in.code != 1 || tree(t, in.to)["hookd-bridge"] != to {
			t.Fatalf("after a failure: %v\n%s", tree(t, in.to), in.err)
		}
	}
	delete(in.programs, "mv")
	if err := os.Remove(filepath.Join(filepath.Dir(in.to), "programs", "mv")); err != nil {
		t.Fatal(err)
	}
	in.run()
	in.succeeded(in.to)
	if text, err := os.ReadFile(other); string(text) != "theirs" {
		t.Errorf("what the link led to is %q, %v", text, err)
	}
}

// With shasum instead of sha256sum, as on macOS, and for each system its archive.
func TestInstallTakesTheArchiveOfTheSystem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ kernel, machine, translated, want string }{
		{"Linux", "aarch64", "", "linux-arm64"},
		{"Darwin", "x86_64", "0", "darwin-amd64"},
		{"Darwin", "x86_64", "1", "darwin-arm64"},
		{"Darwin", "arm64", "", "darwin-arm64"},
	} {
		in := newInstallation(t)
		in.onlyPrograms()
		in.system(test.kernel, test.machine)
		in.programs["sysctl"] = "#!/bin/sh\necho " + test.translated + "\n"
		in.programs["shasum"] = "#!/bin/sh\ntest \"$*\" = '-a 256' || exit 1\nPATH=$REAL; { sha256sum || shasum -a 256; } 2>/dev/null\n"
		data, err := packTar("hookd-1.2.3-"+test.want, []member{{"hookd", []byte(newPair["hookd"]), 0o755}, {"hookd-bridge", []byte(newPair["hookd-bridge"]), 0o755}}, firstTime)
		if err != nil {
			t.Fatal(err)
		}
		name := "hookd-1.2.3-" + test.want + ".tar.gz"
		in.write(filepath.Join(in.release, name), string(data))
		in.write(filepath.Join(in.release, "SHA256SUMS"), strings.TrimSuffix(string(sums([]member{{name: name, data: data}})), "\n")) // also without the last line end
		in.run()
		in.succeeded(in.to)
	}
}

// The newest release, or one, each from its address, by curl or by wget.
func TestInstallDownloadsFromTheProjectsReleases(t *testing.T) {
	t.Parallel()
	loader := "#!/bin/sh\nfor last; do :; done\nwhile [ $# -gt 0 ]; do case $1 in -o | -O) file=$2 ;; https:*) last=$1 ;; esac; shift; done\necho \"$last\" >>\"$RELEASE/asked\"\nPATH=$REAL exec cp \"$RELEASE/${last##*/}\" \"$file\"\n"
	for _, test := range []struct{ by, version, folder string }{
		{"curl", "", "latest/download/"},
		{"curl", "1.2.3", "download/v1.2.3/"},
		{"wget", "v1.2.3", "download/v1.2.3/"},
	} {
		in := newInstallation(t)
		if test.by == "wget" {
			in.onlyPrograms()
			in.programs["sha256sum"] = "#!/bin/sh\nPATH=$REAL; { sha256sum || shasum -a 256; } 2>/dev/null\n"
		}
		in.programs[test.by] = loader
		args := []string{"--to", in.to}
		if test.version != "" {
			args = append(args, "--version", test.version)
		}
		in.finish(in.command(args...))
		in.succeeded(in.to)
		base := "https://" + module + "/releases/" + test.folder
		if got, want := in.read("asked"), base+"SHA256SUMS\n"+base+in.archive("1.2.3")+"\n"; got != want {
			t.Errorf("asked for\n%swant\n%s", got, want)
		}
	}
}

// Ended while it works, as by Ctrl-C, it leaves nothing but what was there, and no process.
func TestInstallThatIsInterruptedChangesNothing(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		in := newInstallation(t)
		before := tree(t, in.to)
		in.programs["tar"] = "#!/bin/sh\n: >\"$RELEASE/begun\"\nPATH=$REAL exec sleep 60\n"
		cmd := in.command("--from", in.release, "--to", in.to)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, filepath.Join(in.release, "begun"))
		began := time.Now()
		if err := syscall.Kill(-cmd.Process.Pid, sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(sig) || time.Since(began) > 20*time.Second {
			t.Errorf("%v: exit code %d after %v\n%s", sig, code, time.Since(began), said.String())
		}
		if after := tree(t, in.to); !maps.Equal(before, after) {
			t.Errorf("%v: the folder holds %q", sig, after)
		}
		if err := syscall.Kill(-cmd.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%v: processes are left: %v", sig, err)
		}
	}
}

// A signal between the two renames does not leave one program of each release.
func TestInstallEndsWhatItBeganToReplace(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	in.programs["mv"] = "#!/bin/sh\nkill -TERM $PPID; kill -INT $PPID\nPATH=$REAL exec mv \"$@\"\n"
	in.run()
	in.succeeded(in.to)
}

// The script is read while it is downloaded. Whatever part of it arrives does nothing.
func TestAnInstallScriptThatWasCutOffDoesNothing(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(script(t))
	if err != nil {
		t.Fatal(err)
	}
	in := newInstallation(t)
	before := tree(t, filepath.Dir(in.to))
	var cuts []int
	for i := range 16 {
		cuts = append(cuts, len(text)*i/16)
	}
	for i := range 14 { // up to the brace without which the last line is none
		cuts = append(cuts, len(text)-2-i)
	}
	for _, cut := range cuts {
		cmd := in.command()
		cmd.Args = []string{"sh", "-s", "--", "--from", in.release, "--to", in.to}
		cmd.Stdin = bytes.NewReader(text[:cut])
		in.finish(cmd)
		if in.out != "" {
			t.Errorf("cut off at byte %d of %d it said %q", cut, len(text), in.out)
		}
	}
	after := tree(t, filepath.Dir(in.to))
	delete(after, "programs")
	if !maps.Equal(before, after) {
		t.Errorf("the folders hold %v", slices.Sorted(maps.Keys(after)))
	}
	cmd := in.command()
	cmd.Args, cmd.Stdin = []string{"sh", "-s", "--", "--from", in.release, "--to", in.to}, bytes.NewReader(text)
	in.finish(cmd)
	in.succeeded(in.to)
}

// A hookd that runs goes on, and the person reads which process it is.
func TestInstallOverAHookdThatRuns(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(in.to, "hookd")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	in.write(program, string(data))
	old := exec.Command(program)
	old.Env = append(os.Environ(), "HOOKD_TEST_WAITS=1")
	hold, err := old.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Start(); err != nil {
		t.Fatal(err)
	}
	in.run()
	in.succeeded(in.to)
	if want := fmt.Sprintf("until it ends: process %d\n", old.Process.Pid); runtime.GOOS == "linux" && !strings.Contains(in.out, want) {
		t.Errorf("%q is missing in\n%s", want, in.out)
	}
	_ = hold.Close()
	if err := old.Wait(); err != nil {
		t.Errorf("the running one ended with %v", err)
	}
}

func TestInstallIntoAFolderThatOthersOwn(t *testing.T) {
	t.Parallel()
	in := newInstallation(t)
	text, err := os.ReadFile(script(t)) // which a user who is nobody may not be able to read
	if err != nil {
		t.Fatal(err)
	}
	cmd := in.command()
	cmd.Args, cmd.Stdin = []string{"sh", "-s", "--", "--from", in.release, "--to", in.to}, bytes.NewReader(text)
	if os.Getuid() == 0 { // may write everywhere
		if err := os.Chmod(filepath.Dir(filepath.Dir(in.to)), 0o711); err != nil { // made for its owner alone
			t.Fatal(err)
		}
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	if err := os.Chmod(in.to, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(in.to, 0o755) })
	in.finish(cmd)
	if in.code != 1 || !strings.Contains(in.err, "cannot write in "+in.to) || !maps.Equal(tree(t, in.to), oldPair) {
		t.Errorf("exit code %d\n%s", in.code, in.err)
	}
}
