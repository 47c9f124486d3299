package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
	"github.com/hookd-dev/hookd/schema/units"
)

// maxSize bounds a settings file, in bytes.
const maxSize = 1 << 20

// Names are the names a layer's settings file may have, the first one that is
// there counting.
var Names = []string{"acai.json", "acai.yaml", "acai.toml"}

// File is a layer's settings file as it is now.
type File struct {
	Path     string // "" if there is none
	Text     []byte
	Settings schema.LayerSettings
	Entry    []byte // canonical JSON: what the file says in the keys hooks and agent
	Findings []schema.Finding
	Bad      *schema.UnreadableError // nothing in the file counts; nil if it can be read
}

// SaysNothing reports whether a settings file has no effect also once it is
// allowed, as the one that hookd init writes.
func (f *File) SaysNothing() bool {
	return f.Bad == nil && len(f.Settings.Values) == 0 && len(f.Settings.Use) == 0 && len(f.Findings) == 0
}

// Faults are what is wrong with single values of the file, and keys beside hooks and agent
// that were probably meant to be one of them; they have no effect.
func (f *File) Faults() (texts []string) {
	for _, finding := range f.Findings {
		unknown := finding.Code == string(schema.CodeUnknownKey)
		switch {
		case unknown && (finding.Severity == schema.SeverityError || beside(finding)):
			texts = append(texts, finding.Message+" ("+finding.Remedy+")")
		case finding.Severity == schema.SeverityError:
			texts = append(texts, finding.Message)
		}
	}
	return texts
}

// beside reports whether a finding is about a key outside of hooks and agent.
func beside(f schema.Finding) bool {
	return f.Path != nil && !strings.HasPrefix(*f.Path, "hooks.") && !strings.HasPrefix(*f.Path, "agent.")
}

// Look is called by Read for each path on its way. Both
// functions may be nil.
type Look struct {
	// See is called with each path before it is read.
	See func(path string)
	// Check says why a folder or file does not count, because others could have
	// written it. It returns nil for one that is not there.
	Check func(path string) *schema.UnreadableError
}

// Read reads the settings file of a layer from its folder (.acai, ~/.acai, the
// managed folder). A layer without one has empty settings.
func Read(folder string, layer protocol.Layer, look Look) File {
	f := File{Settings: schema.LayerSettings{Layer: layer}}
	if look.See != nil {
		look.See(folder)
		for _, name := range Names {
			look.See(filepath.Join(folder, name))
		}
	}
	if err := f.read(folder, layer, look); err != nil && !errors.As(err, &f.Bad) {
		f.Bad = &schema.UnreadableError{File: folder, Message: err.Error(), Err: err}
	}
	return f
}

// read fills in what the folder's file says. The error is what makes nothing of
// it count.
func (f *File) read(folder string, layer protocol.Layer, look Look) (err error) {
	if look.Check != nil {
		if bad := look.Check(folder); bad != nil {
			return bad
		}
	}
	if f.Path, f.Findings, err = find(folder); err != nil || f.Path == "" {
		return err
	}
	f.Settings.File = f.Path
	if look.Check != nil {
		if bad := look.Check(f.Path); bad != nil {
			return bad
		}
	}
	if f.Text, err = ReadText(f.Path); err != nil {
		return err
	}
	settings, findings, err := Decode(f.Path, f.Text, layer)
	f.Settings, f.Findings = settings, append(f.Findings, findings...)
	if err == nil {
		f.Entry, err = Canonical(f.Path, f.Text)
	}
	return err
}

// find finds the settings file of a layer. The error is an
// [*schema.UnreadableError]; a folder that is not there is none.
func find(folder string) (file string, findings []schema.Finding, err error) {
	var found []string
	for _, name := range Names {
		path := filepath.Join(folder, name)
		_, err := os.Lstat(path)
		switch {
		case err == nil:
			found = append(found, path)
		case !missing(err):
			return "", nil, &schema.UnreadableError{File: path, Message: "the file cannot be read: " + fsutil.WithoutPath(err).Error(), Remedy: "make the file and its folder readable", Err: err}
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

// missing reports errors that mean there is no such file. ENOTDIR is one: the
// layer's folder may be a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadText reads a settings file of at most [maxSize].
func ReadText(file string) ([]byte, error) {
	unreadable := func(message, remedy string, err error) error {
		return &schema.UnreadableError{File: file, Message: message, Remedy: remedy, Err: err}
	}
	text, err := fsutil.ReadRegular(file, maxSize)
	var other *fsutil.NotRegularError
	switch {
	case errors.As(err, &other):
		return nil, unreadable("the file is not a regular file but "+other.Kind, "replace it by a regular file, or remove it", nil)
	case errors.Is(err, fsutil.ErrTooLarge):
		return nil, unreadable("the file is larger than "+units.FormatSize(maxSize), "make it smaller", nil)
	case err != nil:
		return nil, unreadable("the file cannot be read: "+fsutil.WithoutPath(err).Error(), "make the file readable, or remove it", err)
	}
	return text, nil
}

// formatOf is the language of a settings file, by its ending.
func formatOf(file string) document.Format {
	return document.Format(strings.TrimPrefix(filepath.Ext(file), "."))
}

// Decode reads the text of a layer's settings file; the ending of its
// name says the format. The error is a [*schema.UnreadableError].
func Decode(file string, text []byte, layer protocol.Layer) (schema.LayerSettings, []schema.Finding, error) {
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

// Canonical is the meaning of a settings file, which a person allows: comments,
// order, format and the members of other programs are not part of it. Nor are tests of
// entries: no event runs them, and who writes one need not allow the hook again.
func Canonical(file string, text []byte) ([]byte, error) {
	root, err := document.Parse(formatOf(file), text)
	if err != nil {
		return nil, err
	}
	ours := &document.Node{Kind: document.Object}
	for _, m := range root.Members {
		if m.Key == "hooks" || m.Key == "agent" {
			ours.Members = append(ours.Members, withoutTests(m))
		}
	}
	entry, err := document.Canonical(ours)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &schema.UnreadableError{File: file, Line: syntax.Line, Message: syntax.Message, Remedy: "correct the file; hookd reads it again when it changes", Err: err}
	}
	return entry, err
}

// withoutTests returns the member hooks without the tests of its entries, and any other
// member as it is.
func withoutTests(m document.Member) document.Member {
	if m.Key != "hooks" || m.Value == nil || m.Value.Kind != document.Object {
		return m
	}
	return withMembers(m, func(of document.Member) document.Member {
		if of.Key != "use" || of.Value == nil || of.Value.Kind != document.List {
			return of
		}
		use := *of.Value
		use.Items = nil
		for _, entry := range of.Value.Items {
			if entry.Kind == document.Object {
				bare := *entry
				bare.Members = slices.DeleteFunc(slices.Clone(entry.Members), func(field document.Member) bool { return field.Key == "tests" })
				entry = &bare
			}
			use.Items = append(use.Items, entry)
		}
		of.Value = &use
		return of
	})
}

// withMembers returns a member whose value is an object of other members.
func withMembers(m document.Member, other func(document.Member) document.Member) document.Member {
	object := *m.Value
	object.Members = nil
	for _, of := range m.Value.Members {
		object.Members = append(object.Members, other(of))
	}
	m.Value = &object
	return m
}
