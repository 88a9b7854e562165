package chatexport_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/eunoe-memory/eunoe/pkg/chatexport"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// read returns what a file holds: "session|id|role|speaker|time|content" a message, "key|said|text" a fact.
func read(t testing.TB, data []byte, opt chatexport.Options) ([]string, chatexport.Report, error) {
	t.Helper()
	var out []string
	report, err := chatexport.Read(t.Context(), bytes.NewReader(data), int64(len(data)), opt, func(e chatexport.Entry) error {
		if e.Fact != nil {
			said := "-"
			if e.Fact.Said != nil {
				said = e.Fact.Said.Format(time.DateOnly)
			}
			fields := []string{e.Fact.Key, said, e.Fact.Speaker, e.Fact.Text}
			if v := e.Fact.Valid; v != nil {
				fields = append(fields, v.From.Format(time.DateOnly)+" to "+v.To.Format(time.DateOnly))
			}
			out = append(out, strings.Join(fields, "|"))
			return nil
		}
		at := "-"
		if !e.Message.Time.IsZero() {
			at = e.Message.Time.Format(time.RFC3339)
		}
		out = append(out, strings.Join([]string{string(e.Session), string(e.Message.ID), string(e.Message.Role), e.Message.Speaker, at, e.Message.Content}, "|"))
		return nil
	})
	return out, report, err
}

// zipped returns an archive of files, name after content.
func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

const chatGPT = `[{"title":"Boats","conversation_id":"c-1","current_node":"n5","mapping":{
 "root":{"id":"root","parent":null,"children":["n1"],"message":null},
 "n1":{"parent":"root","message":{"id":"m1","author":{"role":"system"},"content":{"content_type":"text","parts":[""]},"metadata":{"is_visually_hidden_from_conversation":true}}},
 "n2":{"parent":"n1","message":{"id":"m2","author":{"role":"user"},"create_time":1714989600.5,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"Which knot holds a fender?"]}}},
 "n3":{"parent":"n2","message":{"id":"m3","author":{"role":"assistant"},"create_time":1714989610,"content":{"content_type":"text","parts":["A bowline."]}}},
 "n4":{"parent":"n2","message":{"id":"m4","author":{"role":"assistant"},"recipient":"python","create_time":1714989611,"content":{"content_type":"code","text":"print(1)"}}},
 "n5":{"parent":"n4","message":{"id":"m5","author":{"role":"assistant"},"recipient":"all","create_time":1714989612,"content":{"content_type":"text","parts":["A clove hitch."]}}}}},
 {"id":"c-2"}, 7]`

const claude = `[{"uuid":"u-1","name":"","chat_messages":[
 {"uuid":"a","sender":"human","text":"old","content":[{"type":"text","text":"My tent leaks."}],"created_at":"2026-03-01T08:00:00.250000Z"},
 {"uuid":"b","sender":"assistant","text":"","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Seal the seams."}],"created_at":"2026-03-01T08:00:09Z"},
 {"uuid":"c","sender":"assistant","text":"","content":[],"created_at":"2026-03-01T08:01:00Z"}]}]`

const discord = `{"guild":{"id":"1","name":"Rowing"},"channel":{"id":"77","type":"GuildTextChat","name":"race"},"messages":[
 {"id":"1","type":"Default","timestamp":"2026-02-01T10:00:00.000+02:00","content":"We won the regatta","author":{"id":"5","name":"milo","nickname":"Milo","isBot":false}},
 {"id":"2","type":"GuildMemberJoin","timestamp":"2026-02-01T10:01:00+02:00","content":"","author":{"name":"x"}},
 {"id":"3","type":"Reply","timestamp":"2026-02-01T10:02:00+02:00","content":"Congratulations!","author":{"name":"scorebot","isBot":true}}]}`

const telegram = `{"name":"Ida","type":"personal_chat","id":4242,"messages":[
 {"id":1,"type":"service","date":"2026-01-05T12:00:00","action":"phone_call"},
 {"id":2,"type":"message","date":"2026-01-05T12:01:00","date_unixtime":"1767614460","from":"Ida","from_id":"user4242","text":["See ",{"type":"link","text":"https://x.example"},"!"]},
 {"id":3,"type":"message","date":"2026-01-05T12:02:00","from":"Ben","from_id":"user1","text":""}]}`

func TestFormats(t *testing.T) {
	t.Parallel()
	slack := zipped(t, "users.json", `[{"id":"U1","name":"nora","profile":{"real_name":"Nora Lind"}},{"id":"U2","name":"tim","real_name":"Tim"}]`,
		"channels.json", `[{"id":"C1","name":"garden"}]`,
		"garden/2026-04-02.json", `[{"type":"message","user":"U2","text":"&lt;3","ts":"1775124000.000200"}]`,
		"garden/2026-04-01.json", `[{"type":"message","user":"U1","text":"<@U2> bought <https://seeds.example|seeds>","ts":"1775037600.000100"},{"type":"message","subtype":"channel_join","user":"U1","text":"joined","ts":"1775037601.000100"}]`)
	for name, c := range map[string]struct {
		data    []byte
		opt     chatexport.Options
		want    []string
		skipped map[string]int
	}{
		"chatgpt: the branch that is shown, without what is hidden and calls of tools": {[]byte(chatGPT), chatexport.Options{Speaker: "Ana"}, []string{
			"chatgpt:c-1|chatgpt:c-1:m2|user|Ana|2024-05-06T10:00:00Z|Which knot holds a fender?", "chatgpt:c-1|chatgpt:c-1:m5|assistant||2024-05-06T10:00:12Z|A clove hitch."},
			map[string]int{"hidden or of the system": 1, "on a branch that was edited away": 1, "calls and outputs of tools": 1, "conversations of another shape": 2}},
		"claude: blocks of text": {zipped(t, "users.json", "[]", "conversations.json", claude), chatexport.Options{}, []string{
			"claude:u-1|claude:u-1:a|user||2026-03-01T08:00:00Z|My tent leaks.", "claude:u-1|claude:u-1:b|assistant||2026-03-01T08:00:09Z|Seal the seams."},
			map[string]int{"without text": 1}},
		"slack: days in order, names for ids": {slack, chatexport.Options{}, []string{
			"slack:garden|slack:garden:1775037600.000100|user|Nora Lind|2026-04-01T10:00:00Z|Tim bought seeds (https://seeds.example)",
			"slack:garden|slack:garden:1775124000.000200|user|Tim|2026-04-02T10:00:00Z|<3"}, map[string]int{"notices of the channel": 1}},
		"discord: nicknames and bots": {[]byte(discord), chatexport.Options{}, []string{
			"discord:77|discord:77:1|user|Milo|2026-02-01T08:00:00Z|We won the regatta", "discord:77|discord:77:3|assistant|scorebot|2026-02-01T08:02:00Z|Congratulations!"},
			map[string]int{"notices of the channel": 1}},
		"telegram: one chat": {[]byte("\xef\xbb\xbf" + telegram), chatexport.Options{}, []string{"telegram:4242|telegram:4242:2|user|Ida|2026-01-05T12:01:00Z|See https://x.example!"},
			map[string]int{"notices of the chat": 1, "without text": 1}},
		"telegram: an account": {[]byte(`{"about":"","chats":{"about":"","list":[` + telegram + `]}}`), chatexport.Options{},
			[]string{"telegram:4242|telegram:4242:2|user|Ida|2026-01-05T12:01:00Z|See https://x.example!"}, map[string]int{"notices of the chat": 1, "without text": 1}},
		"mem0: facts": {[]byte(`{"results":[{"id":"9","memory":"Rides a unicycle","user_id":"lea","created_at":"2026-05-01T00:00:00-07:00"},{"id":"9","memory":"again"}]}`), chatexport.Options{},
			[]string{"mem0:9|2026-05-01|lea|Rides a unicycle"}, map[string]int{"twice in the file": 1}},
		"zep: facts that hold, and episodes": {[]byte(`{"nodes":[],"edges":[{"uuid":"e1","fact":"Lea lives in Graz","valid_at":"2024-02-03T00:00:00Z","created_at":"2026-01-01T00:00:00Z"},{"uuid":"e2","fact":"Lea lives in Linz","invalid_at":"2024-02-03T00:00:00Z"},{"uuid":"e3","fact":"Lea lives in Wels","valid_at":"2021-04-01T00:00:00Z","invalid_at":"2023-04-01T00:00:00Z"},{"uuid":"e4","fact":"Lea rents a loft","valid_at":"2021-04-01T00:00:00Z","invalid_at":"2021-04-01T00:00:00Z"},{"uuid":"e5","fact":"Lea has a passport","valid_at":"2021-04-01T00:00:00Z","invalid_at":"9021-04-01T00:00:00Z"}],"episodes":[{"uuid":"p1","content":"I moved","role_type":"user","role":"Lea","valid_at":"2024-02-03T09:00:00Z"}]}`), chatexport.Options{},
			[]string{"zep:e1|2024-02-03||Lea lives in Graz", "zep:e3|2021-04-01||Lea lives in Wels|2021-04-01 to 2023-04-01", "zep:e5|2021-04-01||Lea has a passport", "zep:episodes|zep:episodes:p1|user|Lea|2024-02-03T09:00:00Z|I moved"}, map[string]int{"facts that had ended and have no beginning": 1, "facts that held at no time": 1}},
		"letta: blocks and messages": {[]byte(`{"agents":[{"id":"agent-0","messages":[{"id":"message-0","role":"system","content":"be kind"},{"id":"message-1","role":"user","content":[{"type":"text","text":"I fence"}],"created_at":"2026-02-02T02:02:02Z"}]}],"blocks":[{"id":"block-0","label":"human","value":"Fences on Mondays"}]}`), chatexport.Options{Speaker: "Uma"},
			[]string{"letta:agent|letta:agent:message-1|user|Uma|2026-02-02T02:02:02Z|I fence", "letta:block-0|-||Fences on Mondays"}, map[string]int{"of the system or of tools": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, report, err := read(t, c.data, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.skipped, report.Skipped); d != "" {
				t.Errorf("skipped (-want +got):\n%s", d)
			}
			if !strings.HasPrefix(name, string(report.Format)+":") {
				t.Errorf("it was read as %s", report.Format)
			}
		})
	}
}

func TestWhatsApp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		opt  chatexport.Options
		want []string // "time|speaker|content"
		err  string
	}{
		"in brackets, with marks and the day first": {"\u200e[31.12.25, 23:59:01] Chat: \u200eMessages are encrypted\n[31.12.25, 23:59:01] Ömer: Frohes Neues!\nauch dir\n[01.01.26, 00:00:05] ~\u202fKim: \u200eBild weggelassen\n",
			chatexport.Options{}, []string{"2025-12-31T23:59:01Z|Ömer|Frohes Neues!\nauch dir"}, ""},
		"with a dash, twelve hours and the month first": {"12/31/25, 11:59\u202fPM - Ann: bye\n12/31/25, 12:01 AM - Ben joined using an invite link\n1/1/26, 12:05 AM - Ann: <Media omitted>\n1/1/26, 12:06 AM - Ben: hi: there\n",
			chatexport.Options{}, []string{"2025-12-31T23:59:00Z|Ann|bye", "2026-01-01T00:06:00Z|Ben|hi: there"}, ""},
		"the order of the messages tells the order of the date": {"05/01/2026, 10:00 - A: x\n07/01/2026, 10:00 - A: y\n02/02/2026, 10:00 - A: z\n",
			chatexport.Options{}, []string{"2026-01-05T10:00:00Z|A|x", "2026-01-07T10:00:00Z|A|y", "2026-02-02T10:00:00Z|A|z"}, ""},
		"an order that cannot be told is asked for": {"05/06/2026, 10:00 - A: x\n06/07/2026, 10:00 - A: y\n", chatexport.Options{}, nil, "dmy or mdy"},
		"and can be given, with a zone":             {"05/06/2026, 10:00 - A: x\n", chatexport.Options{Dates: chatexport.DMY, Zone: time.FixedZone("", 3600)}, []string{"2026-06-05T09:00:00Z|A|x"}, ""},
		"the year first":                            {"2026-06-05, 10:00 - A: x\n", chatexport.Options{}, []string{"2026-06-05T10:00:00Z|A|x"}, ""},
		"no order fits":                             {"13/06/2026, 10:00 - A: x\n06/13/2026, 10:00 - A: y\n", chatexport.Options{}, nil, "no order that fits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, report, err := read(t, []byte(c.data), c.opt)
			if c.err != "" {
				if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("%v, want %q", err, c.err)
				}
				return
			}
			if err != nil || report.Format != chatexport.WhatsApp {
				t.Fatal(report.Format, err)
			}
			for i, line := range got {
				f := strings.SplitN(line, "|", 6)
				got[i] = strings.Join([]string{f[4], f[3], f[5]}, "|")
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestWrongFilesAreRefused(t *testing.T) {
	t.Parallel()
	whole, bomb := zipped(t, "conversations.json", chatGPT), strings.Repeat(`{"uuid":"`+strings.Repeat("x", 64<<10)+`"},`, 520)
	for name, c := range map[string]struct {
		data []byte
		from chatexport.Format
		want string
	}{
		"half an archive":              {whole[:len(whole)/2], "", "zip archive"},
		"half a document":              {[]byte(chatGPT[:len(chatGPT)/2]), "", "unexpected EOF"},
		"something else":               {[]byte("Dear diary,\ntoday"), "", "no export that is known"},
		"empty":                        {nil, "", "no export that is known"},
		"another format than was said": {[]byte(discord), chatexport.Claude, "an object before byte 1, where an array was expected"},
		"no message":                   {[]byte(`[{"uuid":"u","chat_messages":[]}]`), "", "holds no message"},
		"one endless value":            {[]byte(`[{"a":[` + bomb), chatexport.ChatGPT, "is longer than 33554432 bytes"},
		"a decompression bomb":         {zipped(t, "conversations.json", "["+bomb), chatexport.ChatGPT, "unpacks to more than 200 times its size"},
		"a shape of tomorrow":          {[]byte(`[{"id":"x","mapping":[1,2]}]`), "", "1 conversations of another shape"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := read(t, c.data, chatexport.Options{Format: c.from})
			if !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestASecondExportHasTheSameIds(t *testing.T) {
	t.Parallel()
	chat := "[31.12.25, 23:59:01] A: hello\n[31.12.25, 23:59:01] A: hello\n"
	first, _, err := read(t, []byte(chat), chatexport.Options{Name: "trip"})
	if err != nil || len(first) != 2 || first[0] == first[1] {
		t.Fatal(first, err)
	}
	longer, _, err := read(t, []byte(chat+"[01.01.26, 08:00:00] B: hi\n"), chatexport.Options{Name: "trip"})
	if err != nil || len(longer) != 3 || cmp.Diff(first, longer[:2]) != "" {
		t.Errorf("%v\n%v, %v", first, longer, err)
	}
}

func TestConvertFlushesEachConversation(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	two := `[{"uuid":"u","chat_messages":[{"uuid":"a","sender":"human","text":"one"}]},{"uuid":"v","chat_messages":[{"uuid":"b","sender":"human","text":"two"}]}]`
	if _, err := chatexport.Convert(t.Context(), strings.NewReader(two), int64(len(two)), chatexport.Options{}, &out); err != nil {
		t.Fatal(err)
	}
	want := `{"session":"claude:u","id":"claude:u:a","role":"user","content":"one"}
{"session":"claude:u","flush":true}
{"session":"claude:v","id":"claude:v:b","role":"user","content":"two"}
{"session":"claude:v","flush":true}
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{chatGPT, claude, discord, telegram, `{"results":[{"id":"1","memory":"x"}]}`, `{"edges":[{"uuid":"1","fact":"x"}]}`, `{"agents":[{"messages":[{"id":"1","role":"user","content":"x"}]}]}`, "[1.2.26, 10:00:00] A: b", `[{"ts":"1.2","user":"U","text":"<@U|>"}]`} {
		f.Add([]byte(s), uint8(0))
		f.Add(zipped(f, "result.json", s), uint8(5))
	}
	f.Fuzz(func(t *testing.T, data []byte, from uint8) {
		opt := chatexport.Options{}
		if n := int(from) % (len(chatexport.Formats()) + 1); n > 0 {
			opt.Format = chatexport.Formats()[n-1]
		}
		report, err := chatexport.Read(t.Context(), bytes.NewReader(data), int64(len(data)), opt, func(e chatexport.Entry) error {
			if e.Fact != nil {
				return memory.CheckID("key", e.Fact.Key)
			}
			if _, err := memory.ParseSessionID(string(e.Session)); err != nil {
				t.Errorf("session: %v", err)
			}
			if err := e.Message.Validate(); err != nil {
				t.Errorf("message: %v", err)
			}
			return nil
		})
		if err != nil && !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%v is not ErrInvalid", err)
		}
		if err == nil && report.Messages+report.Facts == 0 {
			t.Error("nothing was read, without an error")
		}
	})
}

// A conversation is read in time that grows as its messages do: with the square of them, this one would take minutes.
func TestALongConversation(t *testing.T) {
	t.Parallel()
	const turns = 100_000
	var b strings.Builder
	b.WriteString(`[{"conversation_id":"c","current_node":"n99999","mapping":{`)
	for i := range turns {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `"n%d":{"parent":"n%d","message":{"id":"m%d","author":{"role":"user"},"content":{"content_type":"text","parts":["Turn %d."]}}}`, i, i-1, i, i)
	}
	b.WriteString(`}}]`)
	began := time.Now()
	out, report, err := read(t, []byte(b.String()), chatexport.Options{})
	if err != nil || len(out) != turns || len(report.Skipped) != 0 {
		t.Fatalf("%d messages, %+v, %v", len(out), report, err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
