package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// wireRerank is a call in either shape: {"query","documents"} with {"results"}
// as answer, or {"query","texts"} with a bare list.
type wireRerank struct {
	Model     string            `json:"model"`
	Query     string            `json:"query"`
	Documents []json.RawMessage `json:"documents"`
	Top       *int              `json:"top_n"`
	Return    bool              `json:"return_documents"`

	Texts      []string `json:"texts"`
	ReturnText bool     `json:"return_text"`
}

func (r *Request) readRerank(body []byte) error {
	var in wireRerank
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	r.Stage, r.Model, r.Query, r.Texts = memory.StageRerank, in.Model, in.Query, in.Texts
	for i, raw := range in.Documents {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var doc struct {
				Text *string `json:"text"`
			}
			if err := json.Unmarshal(raw, &doc); err != nil || doc.Text == nil {
				return fmt.Errorf("documents[%d]: expected a text or an object with text", i)
			}
			text = *doc.Text
		}
		r.Texts = append(r.Texts, text)
	}
	if r.Query == "" || len(r.Texts) == 0 || len(in.Documents) > 0 && len(in.Texts) > 0 {
		return fmt.Errorf("query and either documents or texts are required")
	}
	r.rerank = &in
	return nil
}

// result is one text's score.
type result struct {
	index int
	score any
}

func (h *Handler) rerank(w http.ResponseWriter, r *http.Request) {
	req := h.begin(w, r, (*Request).readRerank)
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
		call.Usage.PromptTokens += tokens(t) + tokens(req.Query)
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
	results := make([]result, len(req.Texts))
	for i, t := range req.Texts {
		results[i] = result{i, overlap(req.Query, t)}
	}
	slices.SortStableFunc(results, func(a, b result) int {
		x, y := a.score.(float64), b.score.(float64) //nolint:errcheck // as made above
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	body := encode(req.reranked(spoilScores(results, out.Fault), call.Usage.PromptTokens))
	h.send(w, r, out.Response, "application/json", [][]byte{spoilBody(body, out.Fault)})
}

// reranked writes results in the shape of the request.
func (r *Request) reranked(results []result, tokens int) any {
	in, list := r.rerank, []any{}
	if in.Texts != nil {
		for _, x := range results {
			one := map[string]any{"index": x.index, "score": x.score}
			if in.ReturnText && x.index < len(r.Texts) {
				one["text"] = r.Texts[x.index]
			}
			list = append(list, one)
		}
		return list
	}
	if in.Top != nil && *in.Top >= 0 {
		results = results[:min(*in.Top, len(results))]
	}
	for _, x := range results {
		one := map[string]any{"index": x.index, "relevance_score": x.score}
		if in.Return && x.index < len(r.Texts) {
			one["document"] = map[string]string{"text": r.Texts[x.index]}
		}
		list = append(list, one)
	}
	return map[string]any{
		"id": "rerank-" + itoa(r.N), "model": r.Model, "results": list,
		"usage": map[string]int{"total_tokens": tokens},
		"meta":  map[string]any{"billed_units": map[string]int{"search_units": 1}},
	}
}

// spoilScores applies a fault to results.
func spoilScores(results []result, kind Kind) []result {
	switch kind {
	case Empty, NoItems, NoChoices:
		return nil
	case Length: // the worst is missing
		return results[:len(results)-1]
	case BadItem:
		results[len(results)/2].score = "high"
	case WrongTypes:
		for i := range results {
			results[i].score = "high"
		}
	case MissingIDs, Duplicates: // all are the best one
		for i := range results {
			results[i].index = results[0].index
		}
	case ForeignIDs:
		results[0].index = len(results)
	case InventedIDs:
		for i := range results {
			results[i].index += 90001
		}
	}
	return results
}

// overlap is the share of a question's content words that a text has, in [0, 1];
// of two with the same share the one with fewer other words is a little higher.
func overlap(question, s string) float64 {
	asked, said := text.ContentStems(question), text.ContentStems(s)
	if len(asked) == 0 || len(said) == 0 {
		return 0
	}
	shared := 0
	for _, w := range asked {
		if slices.Contains(said, w) {
			shared++
		}
	}
	share := float64(shared) / float64(len(asked))
	return share * (0.95 + 0.05*float64(shared)/float64(len(said)))
}
