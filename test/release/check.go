package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// checkTwice builds HEAD for one target from two clones in different folders, at different
// times and in different environments, the second without anything that was compiled
// before, and returns an error with the first difference.
func checkTwice(ctx context.Context, t target) error {
	temp, err := os.MkdirTemp("", "hookd-release-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	caches := filepath.Join(temp, "cache")
	first, err := buildClone(ctx, filepath.Join(temp, "one"), "022", t, "TZ=UTC", "LC_ALL=C", "GOFLAGS=")
	if err != nil {
		return err
	}
	time.Sleep(1100 * time.Millisecond) // files have times of whole seconds in some archives
	second, err := buildClone(ctx, filepath.Join(temp, "another folder", "two"), "077", t,
		"TZ=Pacific/Auckland", "LC_ALL=C.UTF-8", "GOCACHE="+caches, "GOFLAGS=-buildvcs=true", "GOAMD64=v2", "USER=somebody")
	if err != nil {
		return err
	}
	if err := sameFolders(first, second); err != nil {
		return err
	}
	fmt.Printf("release-check: two builds of %s are the same, byte for byte\n", t)
	return nil
}

// buildClone clones HEAD and has the clone make its release of one target.
func buildClone(ctx context.Context, clone, umask string, t target, env ...string) (out string, err error) {
	if _, err := run(ctx, ".", nil, "git", "clone", "-q", "--no-hardlinks", ".", clone); err != nil {
		return "", err
	}
	out = filepath.Join(clone, "bin", "release")
	env = append(os.Environ(), env...)
	args := []string{"go", "run", "./test/release", "-snapshot", "-targets", t.String()}
	if runtime.GOOS != "windows" {
		args = append([]string{"sh", "-c", `umask "$0" && exec "$@"`, umask}, args...)
	}
	_, err = run(ctx, clone, env, args[0], args[1:]...)
	return out, err
}

// sameFolders returns an error that names the first file which differs, and in an archive
// the first member.
func sameFolders(a, b string) error {
	names := func(folder string) (names []string) {
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if !slices.Equal(names(a), names(b)) || len(names(a)) == 0 {
		return fmt.Errorf("the files differ: %v and %v", names(a), names(b))
	}
	all := names(a)
	slices.Reverse(all) // an archive before its sum
	for _, name := range all {
		one, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			return err
		}
		other, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			return err
		}
		if !bytes.Equal(one, other) {
			return fmt.Errorf("%s differs between two builds: %w", name, firstDifference(name, one, other))
		}
	}
	return nil
}

// firstDifference says in which member two archives differ.
func firstDifference(name string, a, b []byte) error {
	one, err := unpack(name, a)
	if err != nil {
		return err
	}
	other, err := unpack(name, b)
	if err != nil {
		return err
	}
	for i := range min(len(one), len(other)) {
		if one[i].name != other[i].name || one[i].mode != other[i].mode {
			return fmt.Errorf("%s (%v) is %s (%v) in the other", one[i].name, one[i].mode, other[i].name, other[i].mode)
		}
		if !bytes.Equal(one[i].data, other[i].data) {
			at := 0
			for at < min(len(one[i].data), len(other[i].data)) && one[i].data[at] == other[i].data[at] {
				at++
			}
			return fmt.Errorf("%s, at byte %d", one[i].name, at)
		}
	}
	return errors.New("what is in it is the same, and how it is packed differs")
}

// unpack returns the members of an archive, folders too. Any other file is one member.
func unpack(name string, data []byte) (files []member, err error) {
	switch {
	case strings.HasSuffix(name, ".tar.gz"):
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		for tr := tar.NewReader(zr); ; {
			h, err := tr.Next()
			if errors.Is(err, io.EOF) {
				return files, nil
			} else if err != nil {
				return nil, err
			}
			content, err := io.ReadAll(tr)
			if err != nil {
				return nil, err
			}
			files = append(files, member{h.Name, content, h.FileInfo().Mode()})
		}
	case strings.HasSuffix(name, ".zip"):
		zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		for _, f := range zr.File {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			content, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil {
				return nil, err
			}
			files = append(files, member{f.Name, content, f.Mode()})
		}
		return files, nil
	}
	return []member{{name, data, 0}}, nil
}
