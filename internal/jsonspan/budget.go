package jsonspan

import (
	"errors"
)

// Budget bounds what a change may cost, in bytes that are looked at, copied or
// moved. A patch of a few kilobytes may otherwise ask for hours: it is refused
// instead. A nil Budget counts nothing.
type Budget struct{ left int }

const (
	leastBudget   = 128 << 20 // bytes, for the smallest document
	budgetPerByte = 16        // of the document and the change together
	elementCost   = 32        // of a list or object that is taken apart
)

var errTooMuchWork = errors.New("the change takes too much work; write the changed fields as a whole, or fewer operations")

// NewBudget is the budget of a change, by the sizes of what it is made from.
func NewBudget(sizes ...int) *Budget {
	b := &Budget{left: leastBudget}
	for _, size := range sizes {
		b.left += budgetPerByte * size
	}
	return b
}

// spend takes n off what is left. What goes beyond it panics and ends in [Budget.Within].
func (b *Budget) spend(n int) {
	if b == nil {
		return
	}
	if b.left -= n; b.left < 0 {
		panic(errTooMuchWork)
	}
}

// Within runs do, which spends the budget. Its error is that of do, or says that the
// budget did not suffice.
func (b *Budget) Within(do func() error) (err error) {
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
