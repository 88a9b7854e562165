package chatproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

// maxAnswer is how much of an answer is looked at, in bytes. A longer one passes and is not kept.
const maxAnswer = 8 << 20

// listener is the body of an answer that passes unchanged while its text is read.
type listener struct {
	io.ReadCloser
	streamed bool
	rest     bytes.Buffer    // what is not read yet: a part of a line, or of the whole body
	text     strings.Builder // of a stream
	tooLong  bool
	ended    func(text string) // called once, where the answer came to its end
}

// listen makes ended hear the text of an answer, if it is one.
func listen(resp *http.Response, ended func(string)) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) //nolint:errcheck // then it is neither
	if resp.StatusCode == http.StatusOK && (kind == "application/json" || kind == "text/event-stream") {
		resp.Body = &listener{ReadCloser: resp.Body, streamed: kind == "text/event-stream", ended: ended}
	}
}

// Read implements io.Reader.
func (l *listener) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b)
	l.hear(b[:n])
	if errors.Is(err, io.EOF) && l.ended != nil {
		l.ended(l.whole())
		l.ended = nil
	}
	return n, err
}

func (l *listener) hear(b []byte) {
	if l.tooLong = l.tooLong || l.rest.Len()+l.text.Len()+len(b) > maxAnswer; l.tooLong {
		return
	}
	l.rest.Write(b)
	for l.streamed {
		line, rest, ok := bytes.Cut(l.rest.Bytes(), []byte("\n"))
		if !ok {
			return
		}
		l.line(line)
		l.rest.Next(l.rest.Len() - len(rest))
	}
}

// choices are the answers that a body or an event holds.
type choices struct {
	Choices []struct {
		Index   int `json:"index"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
}

// line reads a line of a stream.
func (l *listener) line(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	var c choices
	if !ok || json.Unmarshal(data, &c) != nil {
		return
	}
	for _, choice := range c.Choices {
		if choice.Index == 0 {
			l.text.WriteString(choice.Delta.Content)
		}
	}
}

// whole returns the text of the answer, "" if it has none.
func (l *listener) whole() string {
	if l.tooLong {
		return ""
	}
	if l.streamed {
		l.line(l.rest.Bytes())
		return strings.TrimSpace(l.text.String())
	}
	var c choices
	if json.Unmarshal(l.rest.Bytes(), &c) != nil {
		return ""
	}
	for _, choice := range c.Choices {
		if choice.Index == 0 {
			return textOf(choice.Message.Content)
		}
	}
	return ""
}
