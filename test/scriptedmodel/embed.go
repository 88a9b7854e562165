package scriptedmodel

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"net/http"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// DefaultDimension is the size of vectors unless a script says otherwise.
const DefaultDimension = 256

// maxDimension is the largest dimension that a call may request.
const maxDimension = 8192

func (h *Handler) embeddings(w http.ResponseWriter, r *http.Request) {
	req := h.begin(w, r, (*Request).readEmbeddings)
	if req == nil {
		return
	}
	h.delay(r)
	out, _ := h.script.next(req)
	call := Call{Request: *req, Fault: out.Fault, Status: http.StatusOK}
	if h.refuses(w, r, call, out.Response) {
		return
	}
	for _, t := range req.Texts {
		call.Usage.PromptTokens += tokens(t)
	}
	if out.Fault == Reset || out.Fault == Cut {
		call.Status, call.Usage = 0, memory.Usage{}
	}
	h.record(call)
	if out.Fault == WebPage {
		h.page(w)
		return
	}
	if out.given {
		h.send(w, r, out.Response, "application/json", [][]byte{[]byte(out.Text)})
		return
	}
	size := req.Dimension
	if size == 0 {
		size = h.script.Dimension
	}
	if size == 0 {
		size = DefaultDimension
	}
	data := make([]wireVector, len(req.Texts))
	for i, t := range req.Texts {
		data[i] = wireVector{Object: "embedding", Index: i, Embedding: coded(Vector(t, size), req.Encoding)}
	}
	body := encode(map[string]any{
		"object": "list", "model": req.Model, "data": spoilVectors(data, out.Fault, size),
		"usage": map[string]int{"prompt_tokens": call.Usage.PromptTokens, "total_tokens": call.Usage.PromptTokens},
	})
	h.send(w, r, out.Response, "application/json", [][]byte{spoilBody(body, out.Fault)})
}

type wireVector struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"`
}

func (r *Request) readEmbeddings(body []byte) error {
	var in struct {
		Model     string          `json:"model"`
		Input     json.RawMessage `json:"input"`
		Encoding  string          `json:"encoding_format"`
		Dimension int             `json:"dimensions"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.Stage, r.Model, r.Dimension, r.Encoding = memory.StageEmbed, in.Model, in.Dimension, in.Encoding
	var one string
	if json.Unmarshal(in.Input, &one) == nil {
		r.Texts = []string{one}
	} else if err := json.Unmarshal(in.Input, &r.Texts); err != nil {
		return fmt.Errorf("input: expected a text or a list of texts")
	}
	switch {
	case len(r.Texts) == 0:
		return fmt.Errorf("input: is empty")
	case in.Dimension < 0 || in.Dimension > maxDimension:
		return fmt.Errorf("dimensions: %d is outside 1 to %d", in.Dimension, maxDimension)
	case in.Encoding != "" && in.Encoding != "float" && in.Encoding != "base64":
		return fmt.Errorf("encoding_format: %q is unknown", in.Encoding)
	}
	return nil
}

func coded(v []float32, encoding string) any {
	if encoding != "base64" {
		return v
	}
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// Vector is the embedding of a text: its words and their parts, hashed, so that
// texts with words in common are near. It has unit length, for the empty text too.
func Vector(s string, dimension int) []float32 {
	sum := make([]float64, dimension)
	add := func(feature string, weight float64) {
		hash := fnv.New64a()
		hash.Write([]byte(feature)) //nolint:errcheck // a hash cannot fail
		n := hash.Sum64()
		n ^= n >> 29
		n *= 0xbf58476d1ce4e5b9
		n ^= n >> 32
		if n>>63 == 1 {
			weight = -weight
		}
		sum[n%uint64(dimension)] += weight
	}
	for _, t := range text.Terms(s) {
		if t.Stop {
			add("s "+t.Stem, 0.1)
			continue
		}
		add("w "+t.Stem, 1)
		letters := []rune("^" + t.Stem + "$")
		for i := 0; i+3 <= len(letters); i++ {
			add("g "+string(letters[i:i+3]), 0.4/math.Sqrt(float64(len(letters)-2)))
		}
	}
	var norm float64
	for _, x := range sum {
		norm += x * x
	}
	if norm == 0 {
		sum[0], norm = 1, 1
	}
	out := make([]float32, dimension)
	for i, x := range sum {
		out[i] = float32(x / math.Sqrt(norm))
	}
	return out
}

// spoilVectors applies a fault to a list of vectors.
func spoilVectors(data []wireVector, kind Kind, size int) []wireVector {
	switch kind {
	case Empty, NoItems, NoChoices:
		return []wireVector{}
	case BadItem: // another size
		data[len(data)/2].Embedding = Vector("", size+1)
	case WrongTypes:
		for i := range data {
			data[i].Embedding = "no vector"
		}
	case MissingIDs: // all under one index
		for i := range data {
			data[i].Index = 0
		}
	case ForeignIDs: // in another order, each under its index
		slices.Reverse(data)
	case InventedIDs:
		for i := range data {
			data[i].Index += 90001
		}
	case Duplicates:
		data = slices.Concat(data, data)
	case Length: // the last one is missing
		data = data[:len(data)-1]
	}
	return data
}

// spoilBody applies a fault to a whole body.
func spoilBody(body []byte, kind Kind) []byte {
	switch kind {
	case Truncated:
		return body[:len(body)*3/5]
	case Megabytes:
		return append(body[:len(body)-1:len(body)-1], []byte(`,"padding":"`+string(slices.Repeat([]byte("x"), hugeText))+`"}`)...)
	case Fences, Prose, SingleQuotes:
		return []byte(spoilText(string(body), kind, &Request{}))
	case InvalidUTF8:
		return append(body[:len(body)-1:len(body)-1], []byte(",\"padding\":\"\xff\xfe\"}")...)
	case Refusal:
		return []byte(`{"error":{"message":"declined"}}`)
	}
	return body
}
