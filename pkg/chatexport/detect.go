package chatexport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// detect recognises the format by the names in the archive and the fields at the beginning of its files.
func (s *source) detect() (Format, error) {
	if s.zip {
		for _, f := range []struct {
			pattern string
			format  Format
		}{{"users.json", Slack}, {"_chat.txt", WhatsApp}, {"WhatsApp Chat*.txt", WhatsApp}, {"result.json", Telegram}} {
			if found := s.like(f.pattern); len(found) > 0 && (f.format != Slack || len(s.like("channels.json"))+len(s.like("dms.json")) > 0) {
				return f.format, nil
			}
		}
	}
	for _, p := range s.parts {
		var format Format
		err := p.read(func(in *limited) error {
			format = recognise(bufio.NewReaderSize(in, 64<<10))
			return nil
		})
		if err != nil {
			return "", err
		}
		if format != "" {
			return format, nil
		}
	}
	return "", memory.Invalid("file", "is no export that is known here; if it is one, name its format: one of %s", formatNames())
}

// recognise returns the format of a file from its beginning, "" for none.
func recognise(in *bufio.Reader) Format {
	head, _ := in.Peek(64 << 10)
	text := bytes.TrimSpace(head)
	if len(text) == 0 {
		return ""
	}
	if text[0] != '[' && text[0] != '{' || bytes.HasPrefix(text, []byte("[")) && whatsAppBegins(string(text)) {
		if whatsAppBegins(string(text)) {
			return WhatsApp
		}
		return ""
	}
	fields := fieldsOf(json.NewDecoder(io.LimitReader(in, 4<<20)))
	for _, f := range marks {
		if slices.ContainsFunc(f.any, func(field string) bool { return fields[field] || fields["[]."+field] }) {
			return f.format
		}
	}
	return ""
}

// marks are fields that only one of the formats has.
var marks = []struct {
	format Format
	any    []string
}{
	{ChatGPT, []string{"mapping"}},
	{Claude, []string{"chat_messages"}},
	{Discord, []string{"guild", "messages[].timestampEdited", "messages[].author"}},
	{Telegram, []string{"chats.list", "messages[].from_id", "messages[].date_unixtime", "messages[].text_entities"}},
	{Mem0, []string{"memory", "results[].memory", "memories[].memory"}},
	{Zep, []string{"edges", "facts[].fact", "episodes"}},
	{Letta, []string{"agents", "core_memory", "message_ids", "agent_type"}},
	{Slack, []string{"client_msg_id", "ts"}},
}

// maxDepth is the depth of nested objects in which fields are searched.
const maxDepth = 2

// fieldsOf returns the names of the fields at the beginning of a JSON document, as paths: "a", "[].a", "a[].b".
func fieldsOf(d *json.Decoder) map[string]bool {
	found := map[string]bool{}
	var value func(way string, depth int) bool
	value = func(way string, depth int) bool {
		t, err := d.Token()
		if err != nil {
			return false
		}
		open, _ := t.(json.Delim)
		if open != '{' && open != '[' {
			return true
		}
		for d.More() {
			inside := way + "[]"
			if open == '{' {
				if t, err = d.Token(); err != nil {
					return false
				}
				inside = strings.TrimPrefix(way+"."+fmt.Sprint(t), ".")
				if depth <= maxDepth {
					found[inside] = true
				}
			}
			if depth > 64 || !value(inside, depth+1) {
				return false
			}
		}
		_, err = d.Token()
		return err == nil
	}
	value("", 0)
	return found
}
