package dialogue

import (
	"bufio"
	"io"
	"math/rand/v2"
	"sync"
)

// Chance chooses what the sides of a conversation say, the same for the same seed as far as the
// sides take turns. It is safe for concurrent use.
type Chance struct {
	mu   sync.Mutex
	r    *rand.Rand
	last int
}

// NewChance returns what a seed stands for.
func NewChance(seed uint64) *Chance { return &Chance{r: rand.New(rand.NewPCG(seed, 1))} }

// Of returns one of some words.
func (c *Chance) Of(words ...string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return words[c.r.IntN(len(words))]
}

// ID returns the next id.
func (c *Chance) ID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

// Converse has one side read to the end, and say what it has to say to each line, "" if nothing.
func Converse(from *bufio.Reader, to io.Writer, says func([]byte) string) {
	for {
		line, err := from.ReadBytes('\n')
		if err != nil {
			return
		}
		if text := says(line); text != "" {
			go io.WriteString(to, text+"\n") // a side reads on while it writes
		}
	}
}
