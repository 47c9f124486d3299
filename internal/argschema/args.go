package argschema

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// instance decodes a value for the schema check. A number that no float64 holds
// becomes the nearest one, for the check only: the args keep their digits.
func instance(value []byte) (any, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	decoded, err := instanceNext(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); err == nil {
		return nil, errors.New("there is more than one value")
	}
	return decoded, nil
}

func instanceNext(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		number, err := strconv.ParseFloat(token.String(), 64)
		if math.IsInf(number, 0) && err != nil {
			number = math.Copysign(math.MaxFloat64, number)
		}
		return number, nil
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			item, err := instanceNext(d)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := d.ReadToken()
		return list, err
	default: // '{'
		object := map[string]any{}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if object[key], err = instanceNext(d); err != nil {
				return nil, err
			}
		}
		_, err := d.ReadToken()
		return object, err
	}
}
