//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets this program be a hookd that runs while another one is installed.
func TestMain(m *testing.M) {
	if os.Getenv("HOOKD_TEST_WAITS") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until the test closes it
		return
	}
	os.Exit(m.Run())
}

// installation is one run of install.sh: a release of programs that are shell scripts, a
// folder to install into, and programs that stand before those of the machine.
type installation struct {
	t        *testing.T
	release  string            // the folder with the archive
	to       string            // where the programs go; holds an older pair
	home     string            //
	programs map[string]string // text of programs, first on PATH
	path     string            // PATH after them; "" is the machine's
	out, err string            // what it said
	code     int
}

var (
	newPair = map[string]string{"hookd": "#!/bin/sh\necho \"hookd v1.2.3 (${1-})\"\n", "hookd-bridge": "#!/bin/sh\necho new bridge\n"}
	oldPair = map[string]string{"hookd": "#!/bin/sh\necho old hookd\n", "hookd-bridge": "#!/bin/sh\necho old bridge\n"}
)

func newInstallation(t *testing.T) *installation {
	t.Helper()
	dir := t.TempDir()
	in := &installation{t: t, release: filepath.Join(dir, "release"), to: filepath.Join(dir, "bin"), home: filepath.Join(dir, "home"), programs: map[string]string{}}
	for _, folder := range []string{in.release, in.to, in.home} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in.pack("1.2.3", newPair)
	for name, text := range oldPair {
		in.write(filepath.Join(in.to, name), text)
	}
	return in
}

func (in *installation) write(path, text string) {
	in.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		in.t.Fatal(err)
	}
}

// archive is the name of the archive for this system.
func (in *installation) archive(version string) string {
	return (&source{version: version}).archiveName(host()) + ".tar.gz"
}

// pack puts a release with these programs in the folder.
func (in *installation) pack(version string, programs map[string]string) {
	in.t.Helper()
	var files []member
	for name, text := range programs {
		files = append(files, member{name: name, data: []byte(text), mode: 0o755})
	}
	name := in.archive(version)
	data, err := packTar(strings.TrimSuffix(name, ".tar.gz"), files, firstTime)
	if err != nil {
		in.t.Fatal(err)
	}
	in.write(filepath.Join(in.release, name), string(data))
	in.write(filepath.Join(in.release, "SHA256SUMS"), string(sums([]member{
		{name: name, data: data}, {name: "hookd-" + version + "-plan9-mips.tar.gz"}, {name: "install.sh"}})))
}

// packLink puts a release in the folder whose hookd-bridge is a link to something here.
func (in *installation) packLink() {
	in.t.Helper()
	name := in.archive("1.2.3")
	folder := strings.TrimSuffix(name, ".tar.gz") + "/"
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	tw := tar.NewWriter(zw)
	err := errors.Join(
		tw.WriteHeader(&tar.Header{Name: folder + "hookd", Size: int64(len(newPair["hookd"])), Mode: 0o755}),
		func() error { _, err := tw.Write([]byte(newPair["hookd"])); return err }(),
		tw.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: folder + "hookd-bridge", Linkname: "/bin/sh"}),
		tw.Close(), zw.Close())
	if err != nil {
		in.t.Fatal(err)
	}
	in.write(filepath.Join(in.release, name), out.String())
	in.write(filepath.Join(in.release, "SHA256SUMS"), string(sums([]member{{name: name, data: out.Bytes()}})))
}

func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// command is install.sh with these arguments, in a process group of its own.
func (in *installation) command(args ...string) *exec.Cmd {
	in.t.Helper()
	bin := filepath.Join(filepath.Dir(in.to), "programs")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		in.t.Fatal(err)
	}
	for name, text := range in.programs {
		in.write(filepath.Join(bin, name), text)
	}
	path := in.path
	if path == "" {
		path = os.Getenv("PATH")
	}
	ctx, cancel := context.WithTimeout(in.t.Context(), time.Minute)
	in.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{script(in.t)}, args...)...)
	cmd.Dir = filepath.Dir(in.to)
	cmd.Env = []string{"PATH=" + bin + ":" + path, "HOME=" + in.home, "REAL=" + os.Getenv("PATH"), "RELEASE=" + in.release}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs it on the release, unless the arguments name another one.
func (in *installation) run(args ...string) {
	in.t.Helper()
	if !slices.Contains(args, "--from") {
		args = append(args, "--from", in.release)
	}
	if !slices.Contains(args, "--to") {
		args = append(args, "--to", in.to)
	}
	in.finish(in.command(args...))
}

func (in *installation) finish(cmd *exec.Cmd) {
	in.t.Helper()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		in.t.Fatal(err)
	}
	in.code, in.out, in.err = cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// tree returns all that is in a folder: what files hold and where links lead.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && path == folder {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		switch {
		case e.IsDir():
			all[name] = "folder"
		case e.Type()&fs.ModeSymlink != 0:
			all[name], err = os.Readlink(path)
		default:
			var data []byte
			data, err = os.ReadFile(path)
			all[name] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// succeeded asserts that exactly the new pair is in the folder.
func (in *installation) succeeded(folder string) {
	in.t.Helper()
	if in.code != 0 || in.err != "" {
		in.t.Fatalf("exit code %d\n%s%s", in.code, in.out, in.err)
	}
	if got := tree(in.t, folder); !maps.Equal(got, newPair) {
		in.t.Errorf("the folder holds %.300q", fmt.Sprint(got))
	}
	for name := range newPair {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil || info.Mode() != 0o755 {
			in.t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if !strings.Contains(in.out, "installed hookd v1.2.3 (version)\n") {
		in.t.Errorf("it said %q", in.out)
	}
}

func (in *installation) read(name string) string {
	in.t.Helper()
	text, err := os.ReadFile(filepath.Join(in.release, name))
	if err != nil {
		in.t.Fatal(err)
	}
	return string(text)
}

func (in *installation) cut(name string, at int) {
	in.t.Helper()
	in.write(filepath.Join(in.release, name), in.read(name)[:at])
}

func (in *installation) remove(name string) {
	in.t.Helper()
	if err := os.Remove(filepath.Join(in.release, name)); err != nil {
		in.t.Fatal(err)
	}
}

// empty takes the older pair away.
func (in *installation) empty() {
	in.t.Helper()
	if err := os.RemoveAll(in.to); err != nil {
		in.t.Fatal(err)
	}
}

// folder puts a folder where a program goes.
func (in *installation) folder(program string) {
	in.t.Helper()
	path := filepath.Join(in.to, program)
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
		in.t.Fatal(err)
	}
}

// failingMove makes renames to a program fail, apart from the one that puts it back.
func (in *installation) failingMove(program string) {
	in.programs["mv"] = "#!/bin/sh\ncase \"$2 $3\" in */old/*) ;; *\" \"*/bin/" + program + ") echo mv: no >&2; exit 1 ;; esac\nPATH=$REAL exec mv \"$@\"\n"
}

func (in *installation) system(kernel, machine string) {
	in.programs["uname"] = fmt.Sprintf("#!/bin/sh\ncase $1 in -s) echo %s ;; -m) echo %s ;; esac\n", kernel, machine)
}

// onlyPrograms leaves the script only what it cannot do without.
func (in *installation) onlyPrograms() {
	for _, name := range []string{"uname", "mktemp", "tar", "gzip", "mkdir", "rm", "rmdir", "cp", "mv", "ln", "ls", "chmod", "sed", "cat"} {
		in.programs[name] = "#!/bin/sh\nPATH=$REAL exec " + name + " \"$@\"\n"
	}
	in.path = in.release // where no programs are
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s never came", path)
}
