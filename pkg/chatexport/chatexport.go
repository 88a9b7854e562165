// Package chatexport reads the exports of other chat programs and memories, as messages and facts of a bank.
//
// Read streams a file, plain or in a zip archive, entry by entry. The ids of the entries are the same each time the
// conversation is exported, so that an import can be repeated. Read counts what it skips, by reason.
package chatexport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Format is the program that a file was exported from.
type Format string

// The supported formats. Each is the program's own export, except Discord's, which DiscordChatExporter writes.
const (
	ChatGPT  Format = "chatgpt"
	Claude   Format = "claude"
	Slack    Format = "slack"
	Discord  Format = "discord"
	Telegram Format = "telegram"
	WhatsApp Format = "whatsapp"
	Mem0     Format = "mem0"
	Zep      Format = "zep"
	Letta    Format = "letta"
)

// Formats lists the formats, in the order in which a file is compared with them.
func Formats() []Format {
	return []Format{ChatGPT, Claude, Slack, Discord, Telegram, WhatsApp, Mem0, Zep, Letta}
}

// ParseFormat checks the name of a format.
func ParseFormat(s string) (Format, error) {
	if f := Format(strings.ToLower(s)); slices.Contains(Formats(), f) {
		return f, nil
	}
	return "", memory.Invalid("from", "%q is no format; expected one of %s", s, formatNames())
}

func formatNames() string {
	var names []string
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Entry is one message, or one fact of another memory.
type Entry struct {
	Session memory.SessionID  // of a message
	Message memory.Message    // with id, role, speaker, content and time
	Fact    *memory.FactInput // nil for a message; its key is the id that the other memory gave it
}

// Options hold what a file does not say itself.
type Options struct {
	Format  Format         // "" = recognised by the content
	Speaker string         // the name of the person whose export it is, where the format does not tell it; "" = by role
	Zone    *time.Location // of times without a zone; nil = UTC
	Dates   DateOrder      // of a WhatsApp export; "" = inferred from the file
	Name    string         // of the conversation, where the format has no id for it: the file's name; "" = "chat"
}

// Report counts the contents of a file.
type Report struct {
	Format        Format         `json:"format"`
	Conversations int            `json:"conversations"`
	Messages      int            `json:"messages"`
	Facts         int            `json:"facts"`
	Skipped       map[string]int `json:"skipped,omitempty"` // by reason
}

// Lines returns what was skipped, one "N reason" each, sorted by reason.
func (r Report) Lines() []string {
	var out []string
	for _, reason := range slices.Sorted(keysOf(r.Skipped)) {
		out = append(out, fmt.Sprintf("%d %s", r.Skipped[reason], reason))
	}
	return out
}

func keysOf(m map[string]int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// MaxContent is the longest message that is read, in bytes; a longer one is skipped.
const MaxContent = 512 << 10

// reading is the import of one file.
type reading struct {
	ctx    context.Context
	opt    Options
	report Report
	emit   func(Entry) error
	seen   map[memory.MessageID]bool
}

// Read reads a file of size bytes and calls emit with each entry, the messages of a conversation in order. It stops with
// the error of emit, when ctx ends, and at malformed input, with an error that wraps memory.ErrInvalid and names the
// place. Entries emitted before stay valid. The report counts what was read until then.
func Read(ctx context.Context, file io.ReaderAt, size int64, opt Options, emit func(Entry) error) (Report, error) {
	src, err := open(file, size)
	if err != nil {
		return Report{}, err
	}
	if opt.Format == "" {
		if opt.Format, err = src.detect(); err != nil {
			return Report{}, err
		}
	}
	if opt.Name == "" {
		opt.Name = "chat"
	}
	if opt.Zone == nil {
		opt.Zone = time.UTC
	}
	r := &reading{ctx: ctx, opt: opt, emit: emit, report: Report{Format: opt.Format, Skipped: map[string]int{}}, seen: map[memory.MessageID]bool{}}
	read, ok := readers[opt.Format]
	if !ok {
		return r.report, memory.Invalid("from", "%q is no format", opt.Format)
	}
	if err := read(r, src); err != nil {
		return r.report, err
	}
	if r.report.Messages+r.report.Facts == 0 {
		return r.report, memory.Invalid("file", "holds no message that can be read as an export of %s%s", opt.Format, skippedAs(r.report))
	}
	return r.report, nil
}

func skippedAs(r Report) string {
	if len(r.Skipped) == 0 {
		return ""
	}
	return " (skipped: " + strings.Join(r.Lines(), "; ") + ")"
}

var readers = map[Format]func(*reading, *source) error{
	ChatGPT: readChatGPT, Claude: readClaude, Slack: readSlack, Discord: readDiscord, Telegram: readTelegram, WhatsApp: readWhatsApp,
	Mem0: readMem0, Zep: readZep, Letta: readLetta,
}

// Detect recognises the format of a file by its content. The error wraps memory.ErrInvalid.
func Detect(file io.ReaderAt, size int64) (Format, error) {
	src, err := open(file, size)
	if err != nil {
		return "", err
	}
	return src.detect()
}

// skip counts a skipped entry.
func (r *reading) skip(reason string) { r.report.Skipped[reason]++ }

// message emits a message. conversation and id are the exporter's; empty and repeated messages are skipped.
func (r *reading) message(conversation, id string, m memory.Message) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	m.Content = clean(m.Content)
	m.Speaker = shorten(strings.Join(strings.Fields(clean(m.Speaker)), " "), memory.MaxName)
	switch {
	case m.Content == "":
		r.skip("without text")
		return nil
	case len(m.Content) > MaxContent:
		r.skip(fmt.Sprintf("longer than %d bytes", MaxContent))
		return nil
	}
	m.ID = memory.MessageID(r.name(conversation, id))
	if r.seen[m.ID] {
		r.skip("twice in the file")
		return nil
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("conversation %q, message %q: %w", shorten(conversation, 80), shorten(id, 80), err)
	}
	r.seen[m.ID] = true
	r.report.Messages++
	return r.emit(Entry{Session: memory.SessionID(r.name(conversation, "")), Message: m})
}

// fact emits a fact of another memory.
func (r *reading) fact(id string, f memory.FactInput) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	f.Text = clean(f.Text)
	switch {
	case f.Text == "":
		r.skip("without text")
		return nil
	case len(f.Text) > memory.MaxFactText:
		r.skip(fmt.Sprintf("longer than %d bytes", memory.MaxFactText))
		return nil
	}
	f.Key = r.name(id, "")
	if r.seen[memory.MessageID(f.Key)] {
		r.skip("twice in the file")
		return nil
	}
	r.seen[memory.MessageID(f.Key)] = true
	r.report.Facts++
	return r.emit(Entry{Fact: &f})
}

// name joins the format and parts with colons; a name that would be too long is hashed.
func (r *reading) name(parts ...string) string {
	parts = slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" })
	name := clean(string(r.opt.Format) + ":" + strings.Join(parts, ":"))
	if len(name) <= memory.MaxID {
		return name
	}
	return string(r.opt.Format) + ":" + string(memory.NewFactID("", name, ""))
}

// me returns the speaker of the person whose export it is.
func (r *reading) me(role memory.Role) string {
	if role == memory.RoleUser {
		return r.opt.Speaker
	}
	return ""
}

// clean returns text as valid UTF-8 without control characters other than newlines and tabs.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, s))
}

func shorten(s string, n int) string { return memory.Truncate(s, n) }

// seconds returns the time of a Unix time with a fraction, zero for none.
func seconds(s float64) time.Time {
	if s <= 0 || s > 253402300799 { // the end of year 9999
		return time.Time{}
	}
	return time.UnixMicro(int64(s * 1e6)).UTC()
}

// stamp reads a time as programs write it: RFC 3339, with a space for the T, without a zone (then in zone). Zero where
// it is none of these.
func stamp(s string, zone *time.Location) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 {
			return t.UTC()
		}
	}
	return time.Time{}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// withoutMark skips the byte order mark that some programs write first.
func withoutMark(r io.Reader) io.Reader {
	head := make([]byte, len(byteOrderMark))
	n, _ := io.ReadFull(r, head)
	if n == len(head) && bytes.Equal(head, byteOrderMark) {
		return r
	}
	return io.MultiReader(bytes.NewReader(head[:n]), r)
}
