package scriptedmodel

import (
	"hash/fnv"
	"strings"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// What a message costs besides its text, in tokens.
const (
	perMessage = 4
	perPrompt  = 3
)

// exactText is up to which size tokens are counted; longer texts are taken as four bytes a token.
const exactText = 64 << 10

func tokens(s string) int {
	if len(s) > exactText {
		return len(s) / 4
	}
	return text.CountTokens(s)
}

// size is the length of a chat's prompt in tokens.
func size(req *Request) int {
	n := perPrompt + tokens(string(req.Schema))
	for _, t := range req.Tools {
		n += tokens(t.Name) + tokens(t.Description) + tokens(string(t.Schema))
	}
	for _, m := range req.Messages {
		n += m.size()
	}
	return n
}

func (m Message) size() int {
	n := perMessage + tokens(m.Content)
	for _, c := range m.Calls {
		n += tokens(c.Name) + tokens(c.Arguments)
	}
	return n
}

// measure counts what a chat took. Messages that began an earlier prompt the
// same way count as cached, the last one never.
func (h *Handler) measure(req *Request, out Response) memory.Usage {
	u := memory.Usage{Calls: 1, PromptTokens: size(req), CompletionTokens: tokens(out.Text)}
	for _, c := range out.Calls {
		u.CompletionTokens += tokens(c.Name) + tokens(c.Arguments) + perMessage
	}
	hash := fnv.New64a()
	hash.Write([]byte(req.Model)) //nolint:errcheck // a hash cannot fail
	h.mu.Lock()
	defer h.mu.Unlock()
	cached := true
	for i, m := range req.Messages {
		hash.Write([]byte("\x00" + m.Role + "\x00" + m.Content)) //nolint:errcheck // a hash cannot fail
		for _, c := range m.Calls {
			hash.Write([]byte("\x00" + c.Name + "\x00" + c.Arguments)) //nolint:errcheck // a hash cannot fail
		}
		_, known := h.seen[hash.Sum64()]
		if cached = cached && known && i < len(req.Messages)-1; cached {
			u.CachedTokens += m.size()
		}
		if len(h.seen) < maxSeen {
			h.seen[hash.Sum64()] = struct{}{}
		}
	}
	return u
}

// maxSeen bounds the beginnings of prompts that are remembered.
const maxSeen = 1 << 16

// cutTokens returns the longest beginning of text of at most limit tokens, and whether anything was left out.
func cutTokens(text string, limit int) (string, bool) {
	if limit <= 0 || len(text) <= limit || tokens(text) <= limit {
		return text, false
	}
	low, high := 0, min(len(text), 64*limit) // bytes; low fits
	for low < high {
		mid := (low + high + 1) / 2
		if tokens(text[:mid]) <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	return strings.TrimRight(text[:low], " "), true
}

// wireUsage is usage in the protocol's form.
type wireUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func asWire(u memory.Usage) wireUsage {
	w := wireUsage{Prompt: u.PromptTokens, Completion: u.CompletionTokens, Total: u.Tokens()}
	w.Details.Cached = u.CachedTokens
	return w
}
