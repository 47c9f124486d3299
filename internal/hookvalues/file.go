package hookvalues

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// file is what a session's file holds.
type file struct {
	Version int         `json:"v"`
	Rev     int64       `json:"rev"`
	Values  []fileValue `json:"values"`
}

type fileValue struct {
	Layer   protocol.Layer      `json:"layer"`
	Project string              `json:"project,omitzero"`
	Hook    string              `json:"hook"`
	What    What                `json:"what"`
	Rev     int64               `json:"rev"`
	Seq     *int64              `json:"seq"`
	Epoch   int64               `json:"opening,omitzero"`
	Value   protocol.RawMessage `json:"value"`
}

// Encode writes the snapshot as a session's file has it.
func (v Snapshot) Encode() ([]byte, error) {
	f := file{Version: 1, Rev: v.rev, Values: make([]fileValue, 0, len(v.values))}
	for s, value := range v.values {
		raw := value.value
		if len(raw) == 0 {
			raw = protocol.RawMessage("null")
		}
		f.Values = append(f.Values, fileValue{s.Layer, s.Project, s.Name, s.What, value.rev, value.seq, value.epoch, raw})
	}
	slices.SortFunc(f.Values, func(a, b fileValue) int { return cmp.Compare(a.Rev, b.Rev) })
	return json.Marshal(&f, jsontext.AllowInvalidUTF8(true))
}

// Decode reads what [Snapshot.Encode] wrote.
func Decode(raw []byte) (Snapshot, error) {
	v := Snapshot{values: map[slot]stored{}}
	if len(raw) == 0 {
		return v, errors.New("it is empty")
	}
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return v, err
	}
	if f.Version != 1 {
		return v, fmt.Errorf("version %d is not known here", f.Version)
	}
	v.rev = f.Rev
	for _, fv := range f.Values {
		v.values[slot{Key{fv.Layer, fv.Project, fv.Hook}, fv.What}] = stored{slices.Clone(fv.Value), fv.Seq, fv.Epoch, fv.Rev}
	}
	return v, nil
}
