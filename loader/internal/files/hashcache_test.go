package files

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKeepHead makes sure that the hash of a head is the file's hash, and that it does
// not outlive the file's content.
func TestKeepHead(t *testing.T) {
	cache, path := NewHashCache(), filepath.Join(t.TempDir(), "hook.sh")
	for _, text := range []string{"", "#!/bin/sh\n", "#!/bin/sh\n# another\n", strings.Repeat("x", HeadLimit), strings.Repeat("y", HeadLimit+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * StableAfter)
		began := time.Now()
		head, err := ReadHead(path)
		if err != nil {
			t.Fatal(err)
		}
		cache.KeepHead(path, head, began)
		sum := sha256.Sum256([]byte(text))
		want := Hash{head.Stat, hex.EncodeToString(sum[:])}
		if kept := cache.ByPath[path]; (kept == want) == head.Long {
			t.Errorf("after the head of %d bytes the cache has %v", len(text), kept)
		}
		now, err := Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := cache.Hash(path, now); err != nil || got != want {
			t.Errorf("the hash of %d bytes is %v (%v), want %v", len(text), got, err, want)
		}
	}
}

// TestKeepHeadOfFreshFile makes sure that a file that changed a moment ago is read again.
func TestKeepHeadOfFreshFile(t *testing.T) {
	cache, path := NewHashCache(), filepath.Join(t.TempDir(), "hook.sh")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	head, err := ReadHead(path)
	if err != nil {
		t.Fatal(err)
	}
	cache.KeepHead(path, head, time.Now().Add(-StableAfter))
	if len(cache.ByPath) != 0 {
		t.Errorf("it was kept: %v", cache.ByPath)
	}
}
