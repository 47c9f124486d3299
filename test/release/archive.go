package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// member is a file of an archive, or of a release.
type member struct {
	name string // with slashes
	data []byte
	mode fs.FileMode
}

// Everything in an archive belongs to root, has one of two modes and one time, and members
// stand in the order of their names. So the bytes depend on names and content only.

// packTar returns a tar.gz with these files below one folder.
func packTar(folder string, files []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression) // without a time in its header
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(zw)
	for _, m := range inOrder(folder, files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: m.name, Size: int64(len(m.data)), Mode: int64(m.mode),
			ModTime: at, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(m.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := tw.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := tw.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := tw.Close(); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil { // which writes the end
		return nil, err
	}
	return out.Bytes(), nil
}

// packZip returns a zip with these files below one folder.
func packZip(folder string, files []member, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, m := range inOrder(folder, files) {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: at.UTC()}
		if strings.HasSuffix(m.name, "/") {
			header.Method = zip.Store
			header.SetMode(m.mode | fs.ModeDir)
		} else {
			header.SetMode(m.mode)
		}
		w, err := zw.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(m.data); err != nil {
			return nil, err
		}
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// inOrder returns the files below a folder, and the folders that they are in, by name.
func inOrder(folder string, files []member) (all []member) {
	folders := map[string]bool{}
	for _, f := range files {
		f.name = path.Join(folder, f.name)
		all = append(all, f)
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			if !folders[dir] {
				folders[dir] = true
				all = append(all, member{name: dir + "/", mode: 0o755})
			}
		}
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all
}

// sums returns the lines of SHA256SUMS, which sha256sum -c reads.
func sums(files []member) []byte {
	var b strings.Builder
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b member) int { return strings.Compare(a.name, b.name) }) {
		fmt.Fprintf(&b, "%s  %s\n", sum(f.data), f.name)
	}
	return []byte(b.String())
}

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
