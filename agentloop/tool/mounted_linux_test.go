package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// mountedIn names the project to a run of this test with its own view of the mounts.
const mountedIn = "TOOL_TEST_MOUNTED_IN"

// TestAPlaceMountedElsewhere asserts that a folder of the hooks is known where it is
// mounted under another name.
func TestAPlaceMountedElsewhere(t *testing.T) {
	if project := os.Getenv(mountedIn); project != "" {
		writeMounted(t, project)
		return
	}
	base := realTemp(t)
	lay(t, base, "p/.acai/hooks/guard.sh old", "p/innocent/")
	again := exec.Command(os.Args[0], "-test.run=^TestAPlaceMountedElsewhere$", "-test.v")
	again.Env = append(os.Environ(), mountedIn+"="+filepath.Join(base, "p"))
	again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	out, err := again.CombinedOutput()
	switch {
	case again.Process == nil || strings.Contains(string(out), "--- SKIP"):
		t.Skipf("this user may not mount: %v", err)
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
}

func writeMounted(t *testing.T, project string) {
	if err := unix.Mount(filepath.Join(project, ".acai/hooks"), filepath.Join(project, "innocent"), "", unix.MS_BIND, ""); err != nil {
		t.Skip(err)
	}
	folder := Folder{Project: project}
	for _, path := range []string{"innocent/guard.sh", "innocent/new.sh"} {
		if text, isError := call(t, Files(folder), "write_file", map[string]any{"path": path, "content": "EVIL"}); !isError || !strings.Contains(text, "belongs to the hooks") {
			t.Errorf("%s was written: %v", path, text)
		}
	}
}
