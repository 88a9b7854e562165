package llm

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// The cosines, in hundredths, below which a change of topic is looked for: the first, without any result the next, up to
// the last.
const (
	lowestThreshold  = 20
	highestThreshold = 50
	thresholdStep    = 5
)

// boundarySpan is by how many messages on each side a boundary is judged.
const boundarySpan = 2

// TopicBoundaries returns the indices, ascending, of the messages that begin a new topic: the local minima of the cosine
// between the messages before and after, where it is below 0.20; without any, below 0.25, and so on up to 0.50. It is
// deterministic; vectors of different sizes have no boundaries.
func TopicBoundaries(vectors []memory.Vector) []int {
	n := len(vectors)
	cosine := make([]float64, n+1) // between the messages before and after each index
	for i := 1; i < n; i++ {
		cosine[i] = memory.Cosine(sum(vectors[max(0, i-boundarySpan):i]), sum(vectors[i:min(n, i+boundarySpan)]))
	}
	for t := lowestThreshold; t <= highestThreshold; t += thresholdStep {
		var out []int
		for i := 1; i < n; i++ {
			lowest := (i == 1 || cosine[i] < cosine[i-1]) && (i == n-1 || cosine[i] <= cosine[i+1])
			if lowest && cosine[i] < float64(t)/100 {
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

// Pack puts segments of the given sizes into batches, in order, and returns how many segments each batch has. A batch is
// full once it reaches limit, so it exceeds limit by less than its last segment. A greater limit never leads to more
// batches.
func Pack(sizes []int, limit int) []int {
	var out []int
	count, size := 0, 0
	for _, s := range sizes {
		count++
		if size += s; size >= limit {
			out = append(out, count)
			count, size = 0, 0
		}
	}
	if count > 0 {
		out = append(out, count)
	}
	return out
}

// batches divides utterances into those of one call each: by topic where that is on, and by the most that one call takes.
func (x *Extractor) batches(ctx context.Context, all []utterance) [][]utterance {
	var out [][]utterance
	for _, b := range x.byTopic(ctx, all) {
		from, size := 0, 0
		for i, u := range b {
			if i > from && size+u.tokens > x.config.MaxInput {
				out = append(out, b[from:i])
				from, size = i, 0
			}
			size += u.tokens
		}
		out = append(out, b[from:])
	}
	return out
}

// byTopic packs the segments between topic boundaries into batches. Where the embedder fails, all are one batch.
func (x *Extractor) byTopic(ctx context.Context, all []utterance) [][]utterance {
	total := 0
	texts := make([]string, len(all))
	for i, u := range all {
		total += u.tokens
		texts[i] = u.message.Speaker + ": " + u.text
	}
	if x.config.Batch == 0 || total <= x.config.Batch {
		return [][]utterance{all}
	}
	vectors, err := x.deps.Embedder.Embed(ctx, texts)
	if err != nil || len(vectors) != len(all) {
		return [][]utterance{all}
	}
	var segments [][]utterance
	var sizes []int
	from := 0
	for _, to := range append(TopicBoundaries(vectors), len(all)) {
		segments = append(segments, all[from:to])
		size := 0
		for _, u := range all[from:to] {
			size += u.tokens
		}
		sizes, from = append(sizes, size), to
	}
	var out [][]utterance
	at := 0
	for _, n := range Pack(sizes, x.config.Batch) {
		var b []utterance
		for _, s := range segments[at : at+n] {
			b = append(b, s...)
		}
		out, at = append(out, b), at+n
	}
	return out
}
