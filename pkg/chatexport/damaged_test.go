package chatexport_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// regatta is the chat of a sailing club.
func regatta() string {
	var b strings.Builder
	for day := 3; day < 29; day++ {
		fmt.Fprintf(&b, "%02d/06/2024, 07:%02d - Håkon Bråten: Båten på plass %d lekker 🛶\n", day, day, day)
		fmt.Fprintf(&b, "%02d/06/2024, 08:%02d - Žofie: Koupila jsem lano číslo %d.\nA taky kladku.\n", day, day, day)
	}
	return b.String()
}

// encoded returns a text in UTF-16.
func encoded(text, mark string, little bool) []byte {
	out := []byte(mark)
	for _, unit := range utf16.Encode([]rune(text)) {
		if little {
			out = append(out, byte(unit), byte(unit>>8))
		} else {
			out = append(out, byte(unit>>8), byte(unit))
		}
	}
	return out
}

// TestAChatInAnotherEncodingIsNotReadWithoutItsLetters reads a chat as other programs save it: it is whole, or it is refused
// with the line and what to do.
func TestAChatInAnotherEncodingIsNotReadWithoutItsLetters(t *testing.T) {
	t.Parallel()
	chat := regatta()
	whole, _, err := read(t, []byte(chat), chatexport.Options{})
	if err != nil || len(whole) != 52 {
		t.Fatalf("%d messages, %v", len(whole), err)
	}
	for name, data := range map[string]string{
		"lines that end in CR LF": strings.ReplaceAll(chat, "\n", "\r\n"), "lines that end in CR": strings.ReplaceAll(chat, "\n", "\r"),
		"a byte order mark": "\ufeff" + chat, "no end of the last line": strings.TrimSpace(chat),
	} {
		if got, _, err := read(t, []byte(data), chatexport.Options{Format: chatexport.WhatsApp}); err != nil || strings.Join(got, "\n") != strings.Join(whole, "\n") {
			t.Errorf("%s: %d messages, %v", name, len(got), err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"UTF-16 of one order":        {encoded(chat, "\xff\xfe", true), "line 1"},
		"UTF-16 of the other":        {encoded(chat, "\xfe\xff", false), "line 1"},
		"UTF-16 without a mark":      {encoded(chat, "", true), "line 1 holds a zero byte"},
		"Latin-1":                    {[]byte("21/06/2024, 07:00 - Ida: Gr\xfc\xdfe\n"), "line 1 is not UTF-8"},
		"a letter that is cut":       {[]byte(chat[:strings.LastIndex(chat, "🛶")+2]), "line 76 is not UTF-8"},
		"a block of zeros":           {[]byte(chat[:900] + strings.Repeat("\x00", 512) + chat[1412:]), "holds a zero byte"},
		"JSON in another encoding":   {[]byte(strings.ReplaceAll(claude, "a", "\xe4")), "line 1 is not UTF-8"},
		"a date that there is not":   {[]byte(strings.Replace(chat, "05/06/2024", "05/76/2024", 1)), "line 7 begins with the date 5 76 2024"},
		"a year of a damaged line":   {[]byte(strings.Replace(chat, "05/06/2024", "05/06/1024", 1)), "line 7 begins with the date 5 6 1024"},
		"a year of three numbers":    {[]byte(strings.Replace(chat, "05/06/2024", "05/06/202", 1)), "line 7 begins with the date 5 6 202"},
		"a time of the day too late": {[]byte(strings.Replace(chat, "05/06/2024, 07", "05/06/2024, 67", 1)), "line 7 begins with the date 5 6 2024 and the time 67:05"},
	} {
		format := chatexport.WhatsApp
		if strings.HasPrefix(name, "JSON") {
			format = chatexport.Claude
		}
		if got, _, err := read(t, c.data, chatexport.Options{Format: format}); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d messages, %v", name, len(got), err)
		}
	}
}

// TestWhatIsLeftOfADamagedChatIsCounted reads a chat whose first line lost its date, and one of a Thai phone.
func TestWhatIsLeftOfADamagedChatIsCounted(t *testing.T) {
	t.Parallel()
	got, report, err := read(t, []byte("x"+regatta()), chatexport.Options{Format: chatexport.WhatsApp})
	if err != nil || len(got) != 51 || report.Skipped["lines before the first message"] != 1 {
		t.Errorf("%d messages, %v, %v", len(got), report.Skipped, err)
	}
	thai := strings.ReplaceAll(regatta(), "/2024", "/2567")
	if got, _, err := read(t, []byte(thai), chatexport.Options{}); err != nil || !strings.Contains(got[0], "2024-06-03") {
		t.Errorf("%q, %v", got[:min(1, len(got))], err)
	}
}
