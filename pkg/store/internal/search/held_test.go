package search

import (
	"bytes"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var held1 = sketchKey{1, memory.RecordFact}

// vectorOf is one of 484 bytes that are all n.
func vectorOf(n byte) []byte { return bytes.Repeat([]byte{n}, 484) }

// newHeld returns what holds nothing of the bank 1 yet, and follows its facts from a state.
func newHeld(bytes int, state int64) *heldVectors {
	h := newHeldVectors(bytes)
	h.begin(held1, state)
	return h
}

// seen returns what a search in a state finds of rows, by the first byte of each vector.
func seen(h *heldVectors, state int64, nos ...int64) (vectors []byte, others []int64) {
	others, follows := h.each(held1, state, 484, nos, func(_ int64, packed []byte) { vectors = append(vectors, packed[0]) })
	if !follows {
		return nil, nil
	}
	return vectors, others
}

func TestAHeldVectorIsThatOfTheStateOfASearch(t *testing.T) {
	t.Parallel()
	h := newHeld(heldBytes, 20)
	messages, other := sketchKey{1, memory.RecordMessage}, sketchKey{2, memory.RecordFact}
	h.begin(messages, 20)
	h.begin(other, 20)
	h.put(held1, 7, 20, vectorOf(3), true)
	h.put(messages, 8, 20, vectorOf(4), true)
	h.put(other, 9, 20, vectorOf(5), true)
	if got, others := seen(h, 20, 6, 7, 8, 9); !slices.Equal(got, []byte{3}) || !slices.Equal(others, []int64{6, 8, 9}) {
		t.Errorf("state 20 has %v without %v", got, others)
	}
	if got, others := seen(h, 19, 7); len(got) > 0 || !slices.Equal(others, []int64{7}) {
		t.Errorf("a state of before it was read has %v without %v", got, others)
	}
	if got, others := seen(h, 21, 7); len(got) > 0 || others != nil {
		t.Errorf("a state whose changes nobody looked for has %v without %v", got, others)
	}
	if others, _ := h.each(held1, 20, 100, []int64{7}, func(int64, []byte) { t.Error("a vector of another size") }); len(others) != 1 {
		t.Errorf("others are %v", others)
	}
	h.drop(held1, 30, []int64{8}) // another row
	for _, state := range []int64{20, 25, 30} {
		if got, _ := seen(h, state, 7); !slices.Equal(got, []byte{3}) {
			t.Errorf("state %d has %v", state, got)
		}
	}
	h.drop(held1, 31, []int64{7})
	h.put(held1, 7, 31, vectorOf(6), true)
	if got, _ := seen(h, 31, 7); !slices.Equal(got, []byte{6}) {
		t.Errorf("the state after the change has %v", got)
	}
	if got, others := seen(h, 30, 7); len(got) > 0 || !slices.Equal(others, []int64{7}) {
		t.Errorf("the state before the change has %v without %v", got, others)
	}
}

// TestADroppedVectorLeavesNoTrace drops a vector while somebody who read it before still holds it in hand.
func TestADroppedVectorLeavesNoTrace(t *testing.T) {
	t.Parallel()
	h := newHeld(heldBytes, 20)
	h.put(held1, 7, 20, vectorOf(9), true)
	h.drop(held1, 21, []int64{7, 8})
	h.put(held1, 7, 20, vectorOf(9), true) // by who read it before
	h.put(held1, 8, 20, vectorOf(9), true)
	if n, _ := h.count(); n > 0 {
		t.Errorf("%d vectors are held again", n)
	}
	if bytes.IndexByte(h.data[0], 9) >= 0 {
		t.Error("its bytes are still in memory")
	}
	h.put(held1, 7, 21, vectorOf(8), true)
	other := sketchKey{1, memory.RecordMessage}
	h.begin(other, 21)
	h.put(other, 7, 21, vectorOf(6), true)
	h.end(held1)
	if got, others := seen(h, 21, 7); len(got) > 0 || others != nil {
		t.Errorf("of what nobody follows %v is held, without %v", got, others)
	}
	if n, _ := h.count(); n != 1 || bytes.IndexByte(h.data[0], 8) >= 0 {
		t.Errorf("%d vectors are held of other rows", n)
	}
	h.put(held1, 7, 21, vectorOf(8), true)
	if n, _ := h.count(); n != 1 {
		t.Error("a vector is held that nobody follows")
	}
	h.close()
	h.begin(held1, 21)
	h.drop(held1, 22, []int64{7})
	h.put(held1, 7, 22, vectorOf(8), true)
	if n, size := h.count(); n != 0 || size != 0 {
		t.Errorf("%d vectors are left in %d bytes", n, size)
	}
}

func TestHeldVectorsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 2 * heldAtOnce
	h := newHeld(most*484+1000, 1)
	for no := range int64(most) {
		h.put(held1, no, 1, vectorOf(1), false)
	}
	h.put(held1, most, 1, vectorOf(1), false)
	if _, others := seen(h, 1, most); len(others) != 1 {
		t.Error("one too many is held without room")
	}
	seen(h, 1, 0, 1, 2)
	for no := int64(most); no < most+500; no++ {
		h.put(held1, no, 1, vectorOf(2), true)
	}
	if n, size := h.count(); n != most || size > most*(484+200) {
		t.Errorf("%d vectors take %d bytes", n, size)
	}
	if got, others := seen(h, 1, 0, 1, 2, 3, most, most+499); !slices.Equal(got, []byte{1, 1, 1, 2, 2}) || !slices.Equal(others, []int64{3}) {
		t.Errorf("used ones and the latest are held as %v, without %v", got, others)
	}
	h.put(held1, 5000, 1, make([]byte, 100), true)
	if _, others := seen(h, 1, 5000); len(others) != 1 {
		t.Error("a vector of another size is held")
	}
}
