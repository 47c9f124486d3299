package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is the commit that a release is made of.
type source struct {
	folder   string // a clone
	version  string // 1.2.3, as files and pages have it
	tag      string // v1.2.3, as the program says it and links name it; "" is a snapshot
	commit   string
	time     time.Time // of the commit: that of everything in the archives
	snapshot bool
}

// A tag of a release, as semantic versioning and Go have it.
const tagForm = `^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`

// The first moment that a zip file can name.
var firstTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// gitCommand runs git in the clone and returns what it prints.
type gitCommand func(args ...string) (string, error)

// readSource says which version the clone in a folder is. Without snapshot the tree must be
// as it was committed, and HEAD must have one tag of a release, with its section in
// CHANGELOG.md.
func readSource(folder string, git gitCommand, snapshot bool) (*source, error) {
	commit, err := git("rev-parse", "--verify", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("a release is made in a clone: %w", err)
	}
	s := &source{folder: folder, commit: commit, snapshot: snapshot}
	if s.time, err = commitTime(git); err != nil {
		return nil, err
	}
	changed, err := git("status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if snapshot {
		s.version = "0.0.0-snapshot." + commit[:12]
		if changed != "" {
			s.version += ".dirty"
		}
		return s, nil
	}
	if changed != "" {
		return nil, fmt.Errorf("the tree is not as it was committed; commit, or make release SNAPSHOT=1:\n%s", changed)
	}
	tags, err := git("tag", "--points-at", "HEAD")
	if err != nil {
		return nil, err
	}
	if s.tag, err = releaseTag(tags); err != nil {
		return nil, err
	}
	s.version = strings.TrimPrefix(s.tag, "v")
	return s, s.inChangelog()
}

// cloneTo makes the source a fresh clone of the commit. Files that git ignores, which could
// be embedded or change what is compiled, are not in it, nor is what is edited meanwhile.
func (s *source) cloneTo(folder string, git gitCommand) error {
	from, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if _, err := git("clone", "-q", "--no-checkout", from, folder); err != nil {
		return err
	}
	if _, err := git("-C", folder, "-c", "advice.detachedHead=false", "checkout", "-q", s.commit); err != nil {
		return err
	}
	s.folder = folder
	return nil
}

// releaseTag returns the one tag that names a release.
func releaseTag(tags string) (string, error) {
	form := regexp.MustCompile(tagForm)
	found := slices.DeleteFunc(strings.Fields(tags), func(tag string) bool { return !form.MatchString(tag) })
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", errors.New("no tag of a release, as v1.2.3, is at HEAD: git tag -s v1.2.3, or make release SNAPSHOT=1")
	default:
		return "", fmt.Errorf("HEAD has several tags of a release: %s", strings.Join(found, ", "))
	}
}

// commitTime is SOURCE_DATE_EPOCH if that is set, else the time of the commit.
func commitTime(git gitCommand) (time.Time, error) {
	name, text := "SOURCE_DATE_EPOCH", os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		name = "the time of the commit"
		if text, err = git("show", "-s", "--format=%ct", "HEAD"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	at := time.Unix(seconds, 0).UTC()
	if err != nil || at.Before(firstTime) || at.Year() > 2100 {
		return time.Time{}, fmt.Errorf("%s is %q; it must be seconds since 1970, from 1980 on, which is the first year of zip files", name, text)
	}
	return at, nil
}

// inChangelog returns an error if the version has no section in CHANGELOG.md.
func (s *source) inChangelog() error {
	text, err := os.ReadFile(filepath.Join(s.folder, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	heading := "## [" + s.version + "] - "
	if !bytes.Contains(append([]byte("\n"), text...), []byte("\n"+heading)) {
		return fmt.Errorf("CHANGELOG.md has no section %q with a date; name what is new, then tag", strings.TrimSuffix(heading, " - "))
	}
	return nil
}

// linked is the version that the programs say: that of the tag, as go install has it.
func (s *source) linked() string {
	if s.tag != "" {
		return s.tag
	}
	return "v" + s.version
}

// texts returns what lies in every archive as it lies in the repository. Links of pages go
// to the repository: the pages that they name are not in the archive.
func (s *source) texts() (files []member, err error) {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(s.folder, name))
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".md") {
			data = absoluteLinks(data, "https://"+module+"/blob/"+s.ref()+"/")
		}
		files = append(files, member{name: name, data: data, mode: 0o644})
	}
	return files, nil
}

// ref names the commit in links.
func (s *source) ref() string {
	if s.tag != "" {
		return s.tag
	}
	return s.commit
}

// absoluteLinks puts base before the links of a page that name files beside it.
func absoluteLinks(page []byte, base string) []byte {
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	return link.ReplaceAllFunc(page, func(l []byte) []byte {
		to := string(l[2 : len(l)-1])
		if strings.HasPrefix(to, "#") || strings.Contains(to, ":") {
			return l
		}
		return []byte("](" + base + to + ")")
	})
}

// run runs a program in a folder and returns what it prints, without the last line end. An
// error has what it says.
func run(ctx context.Context, folder string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = folder, env
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(said.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
