package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	maxImport   = 512 << 20 // bytes of a file
	maxImports  = 4         // files at a time: each is on disk while it is read
	importsOf   = 3         // of those, files of one key
	importPiece = 1 << 20   // bytes of a file that come within bodyWithin, or its place is another's
	importOf    = 500       // messages that are published at a time
)

var fileTypes = []string{"application/octet-stream", "application/zip", "application/json"}

// importRoute takes a file, and so is no part of the OpenAPI document, whose bodies are JSON.
func importRoute() Route {
	return Route{Method: http.MethodPost, Path: bankPath + "import", Name: "import", file: true, serve: (*Gateway).importFile}
}

// fileType refuses a body that does not say that it is a file. A page cannot say so without asking first.
func fileType(r *http.Request) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !slices.Contains(fileTypes, strings.TrimSpace(kind)) {
		return &refusal{status: http.StatusUnsupportedMediaType, field: "Content-Type", message: "expected Content-Type: " + strings.Join(fileTypes, " or ")}
	}
	return nil
}

// importFile imports what another program exported: the whole file is read first, so that nothing is published of one
// that is broken, and its report is the answer.
func (g *Gateway) importFile(w http.ResponseWriter, r *http.Request, c *caller) error {
	opt, dry, err := importOptions(r)
	if err != nil {
		return err
	}
	if !g.imports.take(c.key) {
		return &refusal{status: http.StatusTooManyRequests, message: fmt.Sprintf("%d files are being imported, or %d of this key; send this one when one of them is in", maxImports, importsOf)}
	}
	defer g.imports.release(c.key)
	file, size, err := spool(w, r)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is gone with it
	report, err := chatexport.Read(r.Context(), file, size, opt, func(chatexport.Entry) error { return nil })
	if err != nil {
		return err
	}
	if !dry {
		s := sender{c: c, bank: bank(r)}
		if report, err = chatexport.Read(r.Context(), file, size, opt, func(e chatexport.Entry) error { return s.add(r.Context(), e) }); err == nil {
			err = s.end(r.Context())
		}
		if err != nil {
			return err
		}
	}
	write(w, http.StatusOK, encode(report))
	return nil
}

// importOptions reads the parameters of an import.
func importOptions(r *http.Request) (opt chatexport.Options, dry bool, err error) {
	if err := checkQuery(r, []string{"from", "speaker", "zone", "dates", "name", "dry_run"}); err != nil {
		return opt, false, err
	}
	q := r.URL.Query()
	if from := q.Get("from"); from != "" {
		if opt.Format, err = chatexport.ParseFormat(from); err != nil {
			return opt, false, err
		}
	}
	opt.Speaker, opt.Name = q.Get("speaker"), q.Get("name")
	if opt.Zone, err = time.LoadLocation(q.Get("zone")); err != nil || q.Get("zone") == "Local" {
		return opt, false, memory.Invalid("zone", "%.40q is no time zone; expected one like Europe/Rome", q.Get("zone"))
	}
	switch opt.Dates = chatexport.DateOrder(strings.ToLower(q.Get("dates"))); opt.Dates {
	case "", chatexport.DMY, chatexport.MDY:
	default:
		return opt, false, memory.Invalid("dates", "%.40q is no order; expected dmy or mdy", q.Get("dates"))
	}
	switch q.Get("dry_run") {
	case "", "false":
	case "true":
		dry = true
	default:
		return opt, false, memory.Invalid("dry_run", "%.40q is neither true nor false", q.Get("dry_run"))
	}
	if err := (memory.Message{Content: "-", Speaker: opt.Speaker}).Validate(); err != nil {
		return opt, false, err
	}
	return opt, dry, nil
}

// spool writes the body to a file that nobody else sees and that is gone when it is closed.
func spool(w http.ResponseWriter, r *http.Request) (*os.File, int64, error) {
	f, err := os.CreateTemp("", "eunoe-import-")
	if err != nil {
		return nil, 0, fmt.Errorf("a place for the file: %w", err)
	}
	err = os.Remove(f.Name())
	var size int64
	if err == nil {
		size, err = io.Copy(f, &arriving{Reader: http.MaxBytesReader(w, r.Body, maxImport), rc: http.NewResponseController(w)})
	}
	if err != nil {
		return nil, 0, errors.Join(badBody(err), f.Close())
	}
	return f, size, nil
}

// places counts the files that are being imported.
type places struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by public key
}

// take returns false if the key imports too many files, or all keys together do.
func (p *places) take(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= maxImports || p.of[key] >= importsOf {
		return false
	}
	p.all++
	p.of[key]++
	return true
}

func (p *places) release(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.of[key]--; p.of[key] == 0 {
		delete(p.of, key)
	}
}

// arriving is a body that may take long, but brings a piece of importPiece bytes every bodyWithin.
type arriving struct {
	io.Reader
	rc   *http.ResponseController
	left int // of the piece
}

// Read implements io.Reader.
func (a *arriving) Read(b []byte) (int, error) {
	if a.left <= 0 {
		a.left = importPiece
		_ = a.rc.SetReadDeadline(time.Now().Add(bodyWithin)) //nolint:errcheck // a recorder has none
	}
	n, err := a.Reader.Read(b)
	a.left -= n
	return n, err
}

// sender publishes the entries of a file.
type sender struct {
	c       *caller
	bank    memory.BankID
	session memory.SessionID
	pending []memory.Message // of session
}

// add takes an entry. The messages of a conversation are published many at a time, and it is flushed where another begins.
func (s *sender) add(ctx context.Context, e chatexport.Entry) error {
	if e.Fact != nil {
		// The op makes an import that is repeated one.
		_, err := s.c.client.Retain(ctx, s.bank, wire.RetainRequest{WriteControl: wire.WriteControl{Op: e.Fact.Key}, Facts: []memory.FactInput{*e.Fact}})
		return err
	}
	if e.Session != s.session {
		if err := s.end(ctx); err != nil {
			return err
		}
		s.session = e.Session
	}
	if s.pending = append(s.pending, e.Message); len(s.pending) < importOf {
		return nil
	}
	return s.publish(ctx)
}

func (s *sender) publish(ctx context.Context) error {
	if len(s.pending) == 0 {
		return nil
	}
	_, err := s.c.client.PublishAll(ctx, s.bank, s.session, s.pending)
	s.pending = s.pending[:0]
	return err
}

// end publishes and flushes the conversation.
func (s *sender) end(ctx context.Context) error {
	if s.session == "" {
		return nil
	}
	if err := s.publish(ctx); err != nil {
		return err
	}
	_, err := s.c.client.Flush(ctx, s.bank, s.session)
	return err
}
