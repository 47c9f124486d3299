package process

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MaybeShim()
	os.Exit(m.Run())
}
