package transfer_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/eunoe-memory/eunoe/internal/transfer"
	"github.com/eunoe-memory/eunoe/pkg/chatexport"
)

// exported is a small export as it stands in its file.
func exported() []byte {
	lines := `{"record":"export","bank":"otto","format":1}
{"record":"message","bank":"otto","session":"küche","seq":4,"id":"m1","content":"Der Ofen ist kaputt.","time":"2026-02-03T10:00:00Z"}
{"record":"flush","bank":"otto","session":"küche","flush":true}
`
	return fmt.Appendf(nil, "%s{\"record\":\"end\",\"lines\":3,\"sum\":\"%x\"}\n", lines, sha256.Sum256([]byte(lines)))
}

// TestADamagedExportIsRefused opens an export that is cut at each byte, that has bits of each byte flipped, and that another program
// saved: it is whole, or it is refused.
func TestADamagedExportIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "otto.jsonl")
	open := func(data []byte) error {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, remove, err := transfer.Open(t.Context(), path, nil, chatexport.Options{})
		remove()
		return err
	}
	whole := exported()
	for name, data := range map[string][]byte{
		"as it is": whole, "with CR LF": bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")), "with a byte order mark": append([]byte("\ufeff"), whole...),
		"of a program that wrote no sum": append(whole[:bytes.LastIndex(whole, []byte(`,"sum"`)):bytes.LastIndex(whole, []byte(`,"sum"`))], "}\n"...),
	} {
		if err := open(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for end := range len(whole) - 1 {
		if open(whole[:end]) == nil {
			t.Errorf("the first %d of %d bytes count as an export", end, len(whole))
		}
	}
	end := bytes.LastIndex(whole, []byte(`{"record":"end"`)) // its field names may be in capitals, or mean nothing: what stands before is whole
	for at := range len(whole) - 1 {
		for _, bits := range []byte{0x01, 0x20, 0x80} {
			other := bytes.Clone(whole)
			other[at] ^= bits
			if err := open(other); err == nil && at < end {
				t.Errorf("byte %d (%q) is changed by %#x, and it counts as an export", at, whole[max(0, at-8):at+1], bits)
			}
		}
	}
	var wide []byte
	for _, unit := range utf16.Encode([]rune(string(whole))) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"UTF-16":                {append([]byte("\xff\xfe"), wide...), "line 1: it holds a zero byte"},
		"UTF-16 without a mark": {wide, "line 1: it holds a zero byte"},
		"Latin-1":               {bytes.ReplaceAll(whole, []byte("ü"), []byte("\xfc")), "line 2: the file is damaged, or in another encoding"},
		"zeros":                 {append(bytes.Clone(whole[:60]), make([]byte, 30)...), "line 2: it holds a zero byte"},
		"edited":                {bytes.ReplaceAll(whole, []byte("kaputt"), []byte("repariert")), "line 4: sum"},
		"a line less":           {whole[bytes.IndexByte(whole, '\n')+1:], "line 3: lines"},
		"no JSON":               {[]byte("Otto, Dienstag: Der Ofen ist kaputt.\n"), "--from names its program"},
	} {
		if err := open(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
