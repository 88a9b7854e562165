package gateway_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const claudeExport = `[{"uuid":"u-1","name":"Tents","chat_messages":[
 {"uuid":"a","sender":"human","text":"My tent leaks at the seams.","created_at":"2026-03-01T08:00:00Z"},
 {"uuid":"b","sender":"assistant","text":"Seal them with silicone.","created_at":"2026-03-01T08:00:09Z"},
 {"uuid":"c","sender":"assistant","text":"","content":[],"created_at":"2026-03-01T08:01:00Z"}]},7]`

// upload returns a request that imports a file.
func (d *door) upload(query, kind, file string) *http.Request {
	r := d.request(http.MethodPost, "/v1/banks/ann/import"+query, file)
	r.Header.Set("Content-Type", kind)
	return r
}

func TestAnExportIsImportedByHTTP(t *testing.T) {
	t.Parallel()
	d := open(t, nil)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for _, part := range []struct{ name, text string }{{"conversations.json", claudeExport}, {"users.json", "[]"}} {
		w, err := z.Create(part.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(part.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := archive.String()
	check := func(r chatexport.Report) {
		t.Helper()
		if r.Format != chatexport.Claude || r.Messages != 2 || r.Skipped["without text"] != 1 || len(r.Skipped) != 2 {
			t.Errorf("%+v", r)
		}
	}
	check(must[chatexport.Report](d, d.upload("?dry_run=true&speaker=Ann", "application/zip", whole)))
	d.refused(d.request(http.MethodGet, "/v1/banks/ann/status", ""), 404, "", "ann")
	check(must[chatexport.Report](d, d.upload("?speaker=Ann", "application/zip", whole)))
	check(must[chatexport.Report](d, d.upload("?speaker=Ann&from=claude", "application/json", claudeExport)))
	d.settle("ann")
	s := post[wire.Status](d, "/v1/banks/ann/status", "")
	if s.Conservation.Published != 4 || s.Conservation.Duplicate != 2 {
		t.Errorf("imported twice, the bank holds %+v", s.Conservation)
	}
	list := post[wire.Page[memory.Item]](d, "/v1/banks/ann/list", `{"record":"message","order":"oldest"}`)
	if len(list.Items) != 2 || list.Items[0].Speaker != "Ann" || list.Items[0].Said == nil || list.Items[0].Said.Year() != 2026 || list.Items[0].Session != list.Items[1].Session {
		t.Errorf("%+v", list.Items)
	}
	if found := post[wire.RecallReply](d, "/v1/banks/ann/recall", `{"query":"What is wrong with my tent?"}`); len(found.Items) == 0 || !strings.Contains(found.Items[0].Text, "seams") {
		t.Errorf("%+v", found)
	}
	memories := `{"results":[{"id":"7","memory":"Ann sails on Sundays.","created_at":"2026-01-05T10:00:00Z"}]}`
	for range 2 {
		if r := must[chatexport.Report](d, d.upload("", "application/octet-stream", memories)); r.Format != chatexport.Mem0 || r.Facts != 1 {
			t.Errorf("%+v", r)
		}
	}
	for _, c := range []struct {
		r            *http.Request
		status       int
		field, words string
	}{
		{d.upload("", "application/zip", whole[:len(whole)/2]), 400, "file", "cannot be read"}, {d.upload("", "application/json", `{"from":"tomorrow"}`), 400, "file", "no export that is known"},
		{d.upload("?from=claude", "application/json", claudeExport[:100]), 400, "file", "cannot be read"}, {d.upload("?from=slack", "application/json", claudeExport), 400, "file", ""},
		{d.upload("?from=icq", "application/json", claudeExport), 400, "from", "chatgpt"}, {d.upload("?zone=Mars", "application/json", claudeExport), 400, "zone", "Europe/Rome"},
		{d.upload("?dates=ymd", "application/json", claudeExport), 400, "dates", "dmy"}, {d.upload("?dry_run=maybe", "application/json", claudeExport), 400, "dry_run", "true"},
		{d.upload("?format=claude", "application/json", claudeExport), 400, "format", "from"}, {d.upload("", "text/plain", claudeExport), 415, "Content-Type", "application/zip"},
		{d.upload("?from=claude", "application/json", `[{"uuid":"x","chat_messages":[{"uuid":"new","sender":"human","text":"kept?"}]},{"uuid":`), 400, "file", "cannot be read"},
	} {
		d.refused(c.r, c.status, c.field, c.words)
	}
	if again := post[wire.Status](d, "/v1/banks/ann/status", ""); again.Conservation.Published != s.Conservation.Published {
		t.Errorf("of what was refused, something was stored: %+v", again.Conservation)
	}
}
