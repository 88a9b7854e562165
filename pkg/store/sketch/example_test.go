package sketch_test

import (
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// An index names the rows whose sketches differ least from that of a vector. The caller compares those exactly.
func ExampleIndex() {
	vectors := []memory.Vector{{1, 0, 0, 0}, {.9, .1, 0, 0}, {0, 1, 0, .5}, {-1, 0, .2, 0}}
	coder := sketch.NewCoder(sketch.Centre(vectors))
	index := sketch.NewIndex(coder)
	edit := index.Edit()
	for no, v := range vectors {
		edit.Put(int64(no), coder.Sketch(v))
	}
	edit.Commit()

	asked := memory.Vector{1, .05, 0, 0}
	for _, no := range index.Snapshot().Nearest(coder.Sketch(asked), 2, 1, nil) {
		fmt.Printf("row %d: %.2f\n", no, memory.Cosine(asked, vectors[no]))
	}
	// Output:
	// row 0: 1.00
	// row 1: 1.00
}
