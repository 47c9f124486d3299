package protocol

// chain is a list that grows at its end without a copy, and shares what it holds
// with the lists that it grew from: a fold with ten thousand answers is ten thousand
// folds.
type chain[T any] struct {
	last *link[T]
	size int
}

type link[T any] struct {
	value  T
	before *link[T]
}

// with is the list with one value more.
func (c chain[T]) with(value T) chain[T] { return chain[T]{&link[T]{value, c.last}, c.size + 1} }

// list is a new list of the values, nil without any.
func (c chain[T]) list() []T {
	if c.size == 0 {
		return nil
	}
	values, at := make([]T, c.size), c.last
	for i := c.size - 1; i >= 0; i-- {
		values[i], at = at.value, at.before
	}
	return values
}
