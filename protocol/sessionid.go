package protocol

import (
	"errors"
	"strings"
)

var errSessionID = errors.New("must be up to 128 letters, digits and - _ . : @, and not begin with a dot")

// CheckSessionID keeps the ids that people and hosts give to sessions to what can name a
// file, an argument and a variable: records and state of a session are kept under its
// id, and hooks read it.
func CheckSessionID(id string) error {
	if id == "" || len(id) > 128 || id[0] == '.' || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:@") != "" {
		return errSessionID
	}
	return nil
}
