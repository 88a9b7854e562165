package llm

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The cosines from which a turn of the topic is looked for: what is below the
// first, else below the next, up to the last. In hundredths.
const (
	firstTurn = 20
	lastTurn  = 50
	stepTurn  = 5
)

// turnSpan is how many messages each side of a turn is judged by.
const turnSpan = 2

// Turns gives the places, in order, before which the topic turns: the least
// cosines between what stands before and after, where below .20; without any,
// below .25, and so on up to .50. A place is the index of the first message of
// what follows. The same vectors give the same turns; vectors of different
// sizes have none.
func Turns(vectors []memory.Vector) []int {
	n := len(vectors)
	near := make([]float64, n+1) // of what stands before and behind each place
	for i := 1; i < n; i++ {
		near[i] = memory.Cosine(sum(vectors[max(0, i-turnSpan):i]), sum(vectors[i:min(n, i+turnSpan)]))
	}
	for t := firstTurn; t <= lastTurn; t += stepTurn {
		var out []int
		for i := 1; i < n; i++ {
			lowest := (i == 1 || near[i] < near[i-1]) && (i == n-1 || near[i] <= near[i+1])
			if lowest && near[i] < float64(t)/100 {
				out = append(out, i)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func sum(vectors []memory.Vector) memory.Vector {
	out := make(memory.Vector, len(vectors[0]))
	for _, v := range vectors {
		if len(v) != len(out) {
			return nil
		}
		for i, f := range v {
			out[i] += f
		}
	}
	return out
}

// Pack puts segments of the given sizes in batches, in order: a batch is full
// once it reaches limit, so that it holds less than limit and one segment more.
// It gives how many segments each batch has; a greater limit never gives more batches.
func Pack(sizes []int, limit int) []int {
	var out []int
	count, held := 0, 0
	for _, s := range sizes {
		count++
		if held += s; held >= limit {
			out = append(out, count)
			count, held = 0, 0
		}
	}
	if count > 0 {
		out = append(out, count)
	}
	return out
}

// batches divides lines into those of one call each: by topic where that is
// on, and by what one call is given at most.
func (x *Extractor) batches(ctx context.Context, all []line) [][]line {
	var out [][]line
	for _, b := range x.byTopic(ctx, all) {
		from, held := 0, 0
		for i, l := range b {
			if i > from && held+l.tokens > x.config.MaxInput {
				out = append(out, b[from:i])
				from, held = i, 0
			}
			held += l.tokens
		}
		out = append(out, b[from:])
	}
	return out
}

// byTopic packs the segments between turns of the topic in batches. Where the
// embedder gives no vectors the lines are one batch.
func (x *Extractor) byTopic(ctx context.Context, all []line) [][]line {
	total := 0
	texts := make([]string, len(all))
	for i, l := range all {
		total += l.tokens
		texts[i] = l.message.Speaker + ": " + l.text
	}
	if x.config.Batch == 0 || total <= x.config.Batch {
		return [][]line{all}
	}
	vectors, err := x.deps.Embedder.Embed(ctx, texts)
	if err != nil || len(vectors) != len(all) {
		return [][]line{all}
	}
	var segments [][]line
	var sizes []int
	from := 0
	for _, to := range append(Turns(vectors), len(all)) {
		segments = append(segments, all[from:to])
		size := 0
		for _, l := range all[from:to] {
			size += l.tokens
		}
		sizes, from = append(sizes, size), to
	}
	var out [][]line
	at := 0
	for _, n := range Pack(sizes, x.config.Batch) {
		var b []line
		for _, s := range segments[at : at+n] {
			b = append(b, s...)
		}
		out, at = append(out, b), at+n
	}
	return out
}
