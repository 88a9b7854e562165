package chatexport

import (
	"context"
	"encoding/json"
	"io"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// line is one line of the JSON Lines that Convert writes: a message or a flush of a session, or the request that retains
// a fact.
type line struct {
	Session memory.SessionID `json:"session,omitempty"`
	*memory.Message
	Flush bool `json:"flush,omitempty"`

	Record  string `json:"record,omitempty"`
	Request string `json:"request,omitempty"`
	Op      string `json:"op,omitempty"`
	Body    *facts `json:"body,omitempty"`
}

type facts struct {
	Facts []memory.FactInput `json:"facts"`
}

// Convert writes the entries of a file as the JSON Lines that `eunoe import` reads: each conversation is followed by a
// flush, and facts become requests to retain, whose op is their key. It fails like Read.
func Convert(ctx context.Context, file io.ReaderAt, size int64, opt Options, out io.Writer) (Report, error) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var session memory.SessionID
	flush := func(next memory.SessionID) error {
		ended := session
		session = next
		if ended == "" || ended == next {
			return nil
		}
		return enc.Encode(line{Session: ended, Flush: true})
	}
	report, err := Read(ctx, file, size, opt, func(e Entry) error {
		if err := flush(e.Session); err != nil {
			return err
		}
		if e.Fact != nil {
			return enc.Encode(line{Record: "write", Request: "retain", Op: e.Fact.Key, Body: &facts{[]memory.FactInput{*e.Fact}}})
		}
		return enc.Encode(line{Session: e.Session, Message: &e.Message})
	})
	if err == nil {
		err = flush("")
	}
	return report, err
}
