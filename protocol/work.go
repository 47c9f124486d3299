package protocol

import "errors"

// work bounds what one reply may cost to apply, in bytes that are looked at,
// copied or moved. A patch of a few kilobytes may otherwise ask for hours: it is
// refused instead, as a reply that is not allowed. nil counts nothing.
type work struct{ left int }

const (
	leastWork   = 128 << 20 // bytes, for the smallest event
	workPerByte = 16        // of event and reply together
	workElement = 32        // of a list or object that is taken apart
)

var errTooMuchWork = errors.New("the change takes too much work; write the changed fields as a whole, or fewer operations")

func workOn(sizes ...int) *work {
	w := &work{left: leastWork}
	for _, size := range sizes {
		w.left += workPerByte * size
	}
	return w
}

// spend takes n off what is left. What goes beyond it ends in [work.within].
func (w *work) spend(n int) {
	if w == nil {
		return
	}
	if w.left -= n; w.left < 0 {
		panic(errTooMuchWork)
	}
}

// within does something that spends, and reports whether it went beyond.
func (w *work) within(do func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			if fault != any(errTooMuchWork) {
				panic(fault)
			}
			err = errTooMuchWork
		}
	}()
	return do()
}
