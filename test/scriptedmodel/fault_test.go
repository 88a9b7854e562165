package scriptedmodel_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/test/scriptedmodel"
)

// spoilt returns the answer to an extraction with a fault, whole and streamed, which must be the same.
func spoilt(t *testing.T, kind scriptedmodel.Kind) (text, finish string) {
	t.Helper()
	s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("extract", kind, 2))
	whole := chat(t, s, extraction(window))
	b := extraction(window)
	b["stream"] = true
	_, _, raw, err := post(t, s, "/chat/completions", b)
	if err != nil {
		t.Fatal(err)
	}
	streamed := ""
	for _, e := range events(t, raw) {
		if len(e.Choices) > 0 {
			streamed += e.Choices[0].Delta.Content
			finish += e.Choices[0].Finish
		}
	}
	if len(whole.Choices) == 0 {
		return streamed, finish
	}
	if streamed != whole.text() || finish != whole.Choices[0].Finish {
		t.Errorf("%s: whole and streamed differ: %.200q (%s), %.200q (%s)", kind, whole.text(), whole.Choices[0].Finish, streamed, finish)
	}
	if got := s.Stats(); kind != "" && got.Faults[kind] != 2 || got.Stages["extract"].Calls != 2 {
		t.Errorf("%s: %+v", kind, got)
	}
	return streamed, finish
}

func TestFaultsOfAnswers(t *testing.T) {
	t.Parallel()
	right, _ := spoilt(t, "")
	meets(t, extractSchema, right)
	all := facts(t, right)
	for _, tc := range []struct {
		kind scriptedmodel.Kind
		want func(text, finish string) bool
	}{
		{scriptedmodel.Truncated, func(text, finish string) bool {
			return strings.HasPrefix(right, text) && len(text) < len(right) && len(text) > 0 && finish == "stop"
		}},
		{scriptedmodel.Length, func(text, finish string) bool {
			return strings.HasPrefix(right, text) && len(text) < len(right) && len(text) > 0 && finish == "length"
		}},
		{scriptedmodel.Fences, func(text, _ string) bool { return text == "```json\n"+right+"\n```" }},
		{scriptedmodel.Prose, func(text, _ string) bool {
			return strings.Contains(text, right) && text[0] != '{' && text[len(text)-1] != '}'
		}},
		{scriptedmodel.BareList, func(text, _ string) bool { return `{"facts":`+text+`}` == right }},
		{scriptedmodel.WrongTypes, func(text, _ string) bool {
			return json.Valid([]byte(text)) && strings.Count(text, `{"text":`) >= len(all) && !strings.Contains(text, `"s":[`)
		}},
		{scriptedmodel.BadItem, func(text, _ string) bool {
			var got struct{ Facts []map[string]any }
			wrong := 0
			_ = json.Unmarshal([]byte(text), &got)
			for _, f := range got.Facts {
				if _, ok := f["f"].(string); !ok {
					wrong++
				}
			}
			return len(got.Facts) == len(all) && wrong == 1
		}},
		{scriptedmodel.MissingIDs, func(text, _ string) bool {
			return !strings.Contains(text, `"s":`) && strings.Count(text, `"f":`) == len(all)
		}},
		{scriptedmodel.ForeignIDs, func(text, _ string) bool { return strings.Count(text, `"s":[4]`) == len(all) }},
		{scriptedmodel.InventedIDs, func(text, _ string) bool { return strings.Count(text, `"s":[90001]`) == len(all) }},
		{scriptedmodel.Duplicates, func(text, _ string) bool {
			got := facts(t, text)
			return len(got) == 2*len(all) && got[0].F == got[len(all)].F
		}},
		{scriptedmodel.Empty, func(text, finish string) bool { return text == "" && finish == "stop" }},
		{scriptedmodel.NoItems, func(text, _ string) bool { return text == `{"facts":[]}` }},
		{scriptedmodel.Megabytes, func(text, _ string) bool {
			return len(text) > 4<<20 && json.Valid([]byte(text))
		}},
		{scriptedmodel.InvalidUTF8, func(text, _ string) bool { return strings.Contains(text, string(utf8.RuneError)) }},
		{scriptedmodel.SingleQuotes, func(text, _ string) bool {
			return !json.Valid([]byte(text)) && strings.HasPrefix(text, "{'facts': [{'s': [1, ], 'f': 'Ana")
		}},
		{scriptedmodel.Refusal, func(text, _ string) bool { return strings.Contains(text, "can't help") }},
		{scriptedmodel.NoChoices, func(text, finish string) bool { return text == "" && finish == "" }},
	} {
		t.Run(string(tc.kind)+" spoils the answer as it says, whole and streamed", func(t *testing.T) {
			t.Parallel()
			if text, finish := spoilt(t, tc.kind); !tc.want(text, finish) {
				t.Errorf("%.600q, %q", text, finish)
			}
		})
	}
	t.Run("invalid UTF-8 stays invalid on the wire", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("", scriptedmodel.InvalidUTF8, 2))
		for _, stream := range []bool{false, true} {
			b := extraction(window)
			b["stream"] = stream
			if _, _, raw, err := post(t, s, "/chat/completions", b); err != nil || utf8.Valid(raw) {
				t.Errorf("stream %v: %v", stream, err)
			}
		}
	})
	t.Run("a web page comes with status 200", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("", scriptedmodel.WebPage, 3))
		for path, b := range map[string]body{"/chat/completions": extraction(window), "/embeddings": {"input": "x"}, "/rerank": {"query": "x", "texts": []string{"y"}}} {
			status, header, raw, err := post(t, s, path, b)
			if err != nil || status != http.StatusOK || header.Get("Content-Type") != "text/html" || raw[0] != '<' {
				t.Errorf("%s: %d %v %s", path, status, err, raw)
			}
		}
	})
	t.Run("the arguments of a tool call are spoilt like a text", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("reflect", scriptedmodel.Truncated, 1).Fault("reflect", scriptedmodel.SingleQuotes, 1))
		for range 2 {
			got := chat(t, s, body{"messages": messages("user", "<question>\n\"Who likes fado?\"\n</question>"), "tools": tools()})
			if c := got.Choices[0].Message.Calls; len(c) == 0 || json.Valid([]byte(c[0].Function.Arguments)) {
				t.Errorf("got %+v", c)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	t.Run("each refusal has its status, on every path, and counts as failed without tokens", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			kind   scriptedmodel.Kind
			status int
			retry  string
		}{
			{scriptedmodel.RateLimit, 429, "2"}, {scriptedmodel.ServerError, 500, ""}, {scriptedmodel.BadGateway, 502, ""}, {scriptedmodel.Overloaded, 503, "2"},
			{scriptedmodel.BadRequest, 400, ""}, {scriptedmodel.Unauthorised, 401, ""}, {scriptedmodel.TooLong, 400, ""},
		} {
			script := &scriptedmodel.Script{}
			script.Inject(scriptedmodel.Fault{Kind: tc.kind, Wait: 1500 * time.Millisecond})
			s := scriptedmodel.Start(t, script)
			for path, b := range map[string]body{"/chat/completions": extraction(window), "/embeddings": {"input": "x"}, "/rerank": {"query": "x", "texts": []string{"y"}}} {
				status, header, raw, err := post(t, s, path, b)
				if err != nil || status != tc.status || header.Get("Retry-After") != tc.retry {
					t.Errorf("%s %s: %d %v %v", tc.kind, path, status, header, err)
				}
				if e := decode[struct {
					Error struct{ Message, Code string }
				}](t, raw).Error; e.Message == "" || e.Code == "" {
					t.Errorf("%s %s: %s", tc.kind, path, raw)
				}
			}
			if total := s.Stats().Total(); total.Calls != 3 || total.Failed != 3 || total.Tokens() != 0 {
				t.Errorf("%s: %+v", tc.kind, total)
			}
		}
	})
	t.Run("an unsupported parameter is rejected only where it is used", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		script.Inject(scriptedmodel.Fault{Kind: scriptedmodel.NoSchema})
		s := scriptedmodel.Start(t, script)
		if status, _, raw, _ := post(t, s, "/chat/completions", extraction(window)); status != 400 || !strings.Contains(string(raw), "json_schema") {
			t.Errorf("%d %s", status, raw)
		}
		b := extraction(window)
		b["response_format"] = body{"type": "json_object"}
		if got := facts(t, chat(t, s, b).text()); len(got) != 4 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a prompt beyond the context is refused", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, &scriptedmodel.Script{Context: 50})
		if status, _, raw, _ := post(t, s, "/chat/completions", extraction(window)); status != 400 || !strings.Contains(string(raw), "context_length_exceeded") {
			t.Errorf("%d %s", status, raw)
		}
		if got := chat(t, s, body{"messages": messages("user", "short")}); got.text() == "" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestLostConnections(t *testing.T) {
	t.Parallel()
	t.Run("a reset and a cut end in the middle of the body, streamed or not", func(t *testing.T) {
		t.Parallel()
		for _, kind := range []scriptedmodel.Kind{scriptedmodel.Reset, scriptedmodel.Cut} {
			for _, stream := range []bool{false, true} {
				s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("", kind, 1))
				b := extraction(window)
				b["stream"] = stream
				_, _, raw, err := post(t, s, "/chat/completions", b)
				switch {
				case kind == scriptedmodel.Reset && !errors.Is(err, syscall.ECONNRESET), kind == scriptedmodel.Cut && !errors.Is(err, io.ErrUnexpectedEOF):
					t.Errorf("%s: %v", kind, err)
				case kind == scriptedmodel.Cut && len(raw) == 0:
					t.Errorf("%s: nothing came", kind)
				}
				if u := s.Stats().Total(); u.Failed != 1 || u.Tokens() != 0 {
					t.Errorf("%s: %+v", kind, u)
				}
			}
		}
	})
	t.Run("a hang lasts until the client goes away", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("", scriptedmodel.Hang, 1))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/embeddings", strings.NewReader(`{"input":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if calls := s.Calls("embed"); len(calls) != 1 || calls[0].Fault != scriptedmodel.Hang || calls[0].Status != 0 {
			t.Errorf("got %+v", calls)
		}
	})
	t.Run("a bounded hang ends with status 504", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		script.Inject(scriptedmodel.Fault{Kind: scriptedmodel.Hang, Wait: time.Millisecond})
		s := scriptedmodel.Start(t, script)
		if status, _, _, err := post(t, s, "/chat/completions", extraction(window)); err != nil || status != http.StatusGatewayTimeout {
			t.Errorf("%d %v", status, err)
		}
	})
	t.Run("closing the server ends what hangs, and a second close does nothing", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("", scriptedmodel.Hang, 1))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/embeddings", strings.NewReader(`{"input":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
			ended <- err
		}()
		for len(s.Calls("embed")) == 0 {
			if t.Context().Err() != nil {
				t.Fatal("the call never came")
			}
		}
		s.Close()
		s.Close()
		if err := <-ended; err == nil {
			t.Error("the call was answered")
		}
	})
	t.Run("a trickle is whole in the end, and broken off when its client goes away", func(t *testing.T) {
		t.Parallel()
		script := &scriptedmodel.Script{}
		script.Inject(scriptedmodel.Fault{Kind: scriptedmodel.Slow, Wait: 20 * time.Millisecond})
		s := scriptedmodel.Start(t, script)
		if got := facts(t, chat(t, s, extraction(window)).text()); len(got) != 4 {
			t.Errorf("got %v", got)
		}
		b := extraction(window)
		b["stream"] = true
		if _, _, raw, err := post(t, s, "/chat/completions", b); err != nil || len(events(t, raw)) < 10 {
			t.Errorf("%v: %s", err, raw)
		}
		endless := &scriptedmodel.Script{}
		endless.Inject(scriptedmodel.Fault{Kind: scriptedmodel.Slow, Wait: time.Hour})
		slow := scriptedmodel.Start(t, endless)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, slow.URL+"/embeddings", strings.NewReader(`{"input":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("every answer is delayed by the configured latency", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, &scriptedmodel.Script{Latency: 30 * time.Millisecond})
		began := time.Now()
		chat(t, s, extraction(window))
		if took := time.Since(began); took < 30*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

func TestFaultsOfVectorsAndScores(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, path string, kind scriptedmodel.Kind, b body) []byte {
		t.Helper()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Fault("", kind, 1))
		status, _, raw, err := post(t, s, path, b)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v", kind, status, err)
		}
		return raw
	}
	texts := []string{"Ana likes fado.", "Ana is allergic to shellfish.", "The kettle is broken."}
	t.Run("vectors come in another order, too few, twice, under wrong indexes, of another size or none", func(t *testing.T) {
		t.Parallel()
		for kind, want := range map[scriptedmodel.Kind][]int{
			scriptedmodel.ForeignIDs: {2, 1, 0}, scriptedmodel.Length: {0, 1}, scriptedmodel.Duplicates: {0, 1, 2, 0, 1, 2}, scriptedmodel.MissingIDs: {0, 0, 0},
			scriptedmodel.InventedIDs: {90001, 90002, 90003}, scriptedmodel.Empty: nil, scriptedmodel.BadItem: {0, 1, 2}, scriptedmodel.WrongTypes: {0, 1, 2},
		} {
			got := decode[struct {
				Data []struct {
					Index     int
					Embedding any
				}
			}](t, ask(t, "/embeddings", kind, body{"input": texts})).Data
			var order []int
			sizes := map[int]bool{}
			for _, d := range got {
				order = append(order, d.Index)
				v, _ := d.Embedding.([]any)
				sizes[len(v)] = true
			}
			if !slices.Equal(order, want) || (len(sizes) == 2) != (kind == scriptedmodel.BadItem) || sizes[0] != (kind == scriptedmodel.WrongTypes) {
				t.Errorf("%s: %v, sizes %v", kind, order, sizes)
			}
		}
	})
	t.Run("scores miss a text, name one twice or one that is not there, or are no numbers", func(t *testing.T) {
		t.Parallel()
		for kind, want := range map[scriptedmodel.Kind][]int{
			scriptedmodel.Length: {1, 0}, scriptedmodel.Duplicates: {1, 1, 1}, scriptedmodel.ForeignIDs: {3, 0, 2}, scriptedmodel.InventedIDs: {90002, 90001, 90003},
			scriptedmodel.Empty: nil, scriptedmodel.WrongTypes: {1, 0, 2}, scriptedmodel.BadItem: {1, 0, 2},
		} {
			got := decode[[]struct {
				Index int
				Score any
			}](t, ask(t, "/rerank", kind, body{"query": "What is Ana allergic to?", "texts": texts}))
			var order []int
			words := 0
			for _, d := range got {
				order = append(order, d.Index)
				if _, ok := d.Score.(string); ok {
					words++
				}
			}
			if !slices.Equal(order, want) || words != map[scriptedmodel.Kind]int{scriptedmodel.WrongTypes: 3, scriptedmodel.BadItem: 1}[kind] {
				t.Errorf("%s: %v, %d words", kind, order, words)
			}
		}
	})
	t.Run("reply bodies can be cut, fenced and padded", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/embeddings", "/rerank"} {
			b := body{"input": texts, "query": "Ana", "documents": texts}
			for kind, valid := range map[scriptedmodel.Kind]bool{scriptedmodel.Truncated: false, scriptedmodel.Fences: false, scriptedmodel.SingleQuotes: false, scriptedmodel.Megabytes: true} {
				raw := ask(t, path, kind, b)
				if json.Valid(raw) != valid || (len(raw) > 4<<20) != (kind == scriptedmodel.Megabytes) {
					t.Errorf("%s %s: %d bytes", path, kind, len(raw))
				}
			}
			if raw := ask(t, path, scriptedmodel.InvalidUTF8, b); utf8.Valid(raw) {
				t.Errorf("%s is UTF-8", path)
			}
		}
	})
	t.Run("a queued answer is the whole body", func(t *testing.T) {
		t.Parallel()
		s := scriptedmodel.Start(t, (&scriptedmodel.Script{}).Answer("embed", `{"data":7}`).Answer("rerank", `[]`))
		if _, _, raw, err := post(t, s, "/embeddings", body{"input": "x"}); err != nil || string(raw) != `{"data":7}` {
			t.Errorf("%s %v", raw, err)
		}
		if _, _, raw, err := post(t, s, "/rerank", body{"query": "x", "texts": texts}); err != nil || string(raw) != `[]` {
			t.Errorf("%s %v", raw, err)
		}
	})
}
