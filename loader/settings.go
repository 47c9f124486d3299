package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// maxSettingsSize bounds a settings file, in bytes.
const maxSettingsSize = 1 << 20

// SettingsNames are the names a layer's settings file may have, the first one
// that is there counting.
var SettingsNames = []string{"acai.json", "acai.yaml", "acai.toml"}

// ReadSettings reads the settings file of a layer from its folder (.acai,
// ~/.acai, the managed folder). A layer without one has empty settings. The
// error is a [*schema.UnreadableError]: the file is there and nothing in it
// counts.
func ReadSettings(folder string, layer protocol.Layer) (schema.LayerSettings, []schema.Finding, error) {
	file, findings, err := settingsFile(folder)
	if err != nil || file == "" {
		return schema.LayerSettings{Layer: layer}, findings, err
	}
	text, err := readBounded(file)
	if err != nil {
		return schema.LayerSettings{Layer: layer, File: file}, findings, err
	}
	settings, more, err := DecodeSettings(file, text, layer)
	return settings, append(findings, more...), err
}

// settingsFile finds the settings file of a layer. The error is an
// [*schema.UnreadableError]; a folder that is not there is none.
func settingsFile(folder string) (file string, findings []schema.Finding, err error) {
	var found []string
	for _, name := range SettingsNames {
		path := filepath.Join(folder, name)
		_, err := os.Lstat(path)
		switch {
		case err == nil:
			found = append(found, path)
		case !files.Missing(err):
			return "", nil, &schema.UnreadableError{File: path, Message: "the file cannot be read: " + files.Cause(err), Remedy: "make the file and its folder readable", Err: err}
		}
	}
	if len(found) == 0 {
		return "", nil, nil
	}
	if len(found) > 1 {
		var names []string
		for _, path := range found {
			names = append(names, filepath.Base(path))
		}
		findings = append(findings, schema.Finding{
			Severity: schema.SeverityError, Code: string(schema.CodeTwoFiles), File: found[0],
			Message: fmt.Sprintf("the folder holds %s; only %s counts", strings.Join(names, " and "), names[0]),
			Remedy:  "merge them into one file and remove the others",
		})
	}
	return found[0], findings, nil
}

// readBounded reads a settings file. It never waits, not even for the writer of
// a FIFO, and never reads more than [maxSettingsSize].
func readBounded(file string) ([]byte, error) {
	unreadable := func(message, remedy string, err error) error {
		return &schema.UnreadableError{File: file, Message: message, Remedy: remedy, Err: err}
	}
	f, err := os.OpenFile(file, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, unreadable("the file cannot be read: "+files.Cause(err), "make the file readable, or remove it", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable("the file cannot be read: "+files.Cause(err), "make the file readable, or remove it", err)
	}
	if !info.Mode().IsRegular() {
		return nil, unreadable("the file is no regular file but "+fileKind(info.Mode()), "replace it by a regular file, or remove it", nil)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSettingsSize+1))
	if err != nil {
		return nil, unreadable("the file cannot be read: "+files.Cause(err), "make the file readable, or remove it", err)
	}
	if len(text) > maxSettingsSize {
		return nil, unreadable("the file is larger than "+schema.FormatSize(maxSettingsSize), "make it smaller", nil)
	}
	return text, nil
}

func fileKind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// formatOf is the language of a settings file, by its ending.
func formatOf(file string) document.Format {
	return document.Format(strings.TrimPrefix(filepath.Ext(file), "."))
}

// DecodeSettings reads the text of a layer's settings file; the ending of its
// name says the format. The error is a [*schema.UnreadableError].
func DecodeSettings(file string, text []byte, layer protocol.Layer) (schema.LayerSettings, []schema.Finding, error) {
	format := formatOf(file)
	root, err := document.Parse(format, text)
	if err != nil {
		unreadable := &schema.UnreadableError{File: file, Message: err.Error(), Remedy: "correct or complete the file; hookd reads it again when it changes", Err: err}
		if syntax := (*document.SyntaxError)(nil); errors.As(err, &syntax) {
			unreadable.Line, unreadable.Message = syntax.Line, fmt.Sprintf("not valid %s: %s", strings.ToUpper(string(format)), syntax.Message)
		}
		return schema.LayerSettings{Layer: layer, File: file}, nil, unreadable
	}
	settings, findings, err := schema.DecodeLayer(root, layer, file)
	sum := sha256.Sum256(text)
	settings.Hash = "sha256:" + hex.EncodeToString(sum[:])
	return settings, findings, err
}
