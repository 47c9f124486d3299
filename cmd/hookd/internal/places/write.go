package places

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/loader"
)

// CreateFile writes a new file and never replaces one: that is [fs.ErrExist].
func CreateFile(path, text string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// InForce returns a fault if hooks of the project are not in force, for example because
// others can write to its folder. Commands that write hooks say so.
func (p *Project) InForce() error {
	trust, err := loader.OpenTrust(loader.Options{Project: p.Folder})
	if err == nil {
		_, err = trust.Plan(context.Background())
	}
	var passed *loader.IgnoredProjectError
	if errors.As(err, &passed) {
		return cli.Usage("no-project", "what was written is not in force: "+passed.Error(), passed.Remedy)
	}
	return nil
}
