package match

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/vm/runtime"
)

// function is a function that conditions call.
type function = func(arguments ...any) (any, error)

// skipped is the value of a chain (a?.b.c) from the place on where it ends early.
type skipped struct{}

// Names of our functions for members, which only a patched condition calls.
const (
	callMember = "__member"
	callGet    = "__get"
	callChain  = "__chain"
	callHas    = "__has"
	nameHas    = "has" // as a person writes it
)

// memberOf is a member of an object as a condition reads it. optional says that the
// object, or the member of an open one, may be missing. Null in an open object is as
// good as missing.
func (in *Input) memberOf(object, name any, optional bool) (any, error) {
	switch o := object.(type) {
	case skipped:
		return o, nil
	case nil:
		if optional {
			return skipped{}, nil
		}
		return nil, fmt.Errorf("there is no %v in what is nil", name)
	case map[string]any:
		text, ok := name.(string)
		if !ok {
			return nil, fmt.Errorf("%T is no name of a member", name)
		}
		return o[text], nil
	case openObject:
		text, ok := name.(string)
		if !ok {
			return nil, fmt.Errorf("%T is no name of a member", name)
		}
		if value := o[text]; value != nil || optional {
			return value, nil
		}
		in.missing = text
		return nil, &missingMember{text}
	}
	return runtime.Fetch(object, name), nil
}

// memberFunctions are the functions of this file, by the names that conditions call
// them by.
func (in *Input) memberFunctions() map[string]function {
	return map[string]function{
		callMember: func(a ...any) (any, error) { return in.memberOf(a[0], a[1], a[2].(bool)) },
		callChain: func(a ...any) (any, error) {
			if _, ended := a[0].(skipped); ended {
				return nil, nil
			}
			return a[0], nil
		},
		callHas: func(a ...any) (any, error) {
			_, ended := a[0].(skipped)
			return !ended && a[0] != nil, nil
		},
		callGet: func(a ...any) (any, error) {
			if v := reflect.ValueOf(a[0]); isList(v) {
				at, isNumber := a[1].(int)
				if !isNumber || at < -v.Len() || at >= v.Len() {
					return nil, nil
				}
			}
			return in.memberOf(a[0], a[1], false)
		},
		nameHas: func(...any) (any, error) { return nil, errors.New("has was not compiled") },
	}
}
