package rules_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

var update = flag.Bool("update", false, "write the golden files anew")

// transcript is a talk of two people over two days.
func transcript() []memory.Message {
	lines := []string{
		"Mara: Hey Jonas! Long time no see, how are you?",
		"Jonas: Hi Mara! I'm good, thanks. I moved to Ghent last month because of a new job at Brightwater Labs.",
		"Mara: Wow, congrats! What do you do there?",
		"Jonas: I work as a data analyst. It's a small team and they build sensors for rivers. My boss Petra is really kind.",
		"Mara: That sounds great! I'm still at the bakery, but I signed up for a pottery class two weeks ago.",
		"Jonas: Nice! My sister Lena does pottery too. She lives in Antwerp.",
		"Mara: Oh, small world. By the way, I can't eat nuts any more, the doctor found an allergy in March.",
		"Jonas: Oh no, sorry to hear that! I'll leave the walnuts out of the cake on Saturday.",
		"Mara: Haha thanks :) We adopted a dog yesterday! His name is Biscuit and he is three years old.",
		"Jonas: So cute!! I think dogs are easier than cats. Do you want to go for a walk at the lake on Sunday?",
		"Mara: Sure! My favourite place there is the old boathouse. Please remember that I prefer mornings.",
		"Jonas: Deal. I decided to sell my car, so I will come by bike.",
		"Mara: I used to bike a lot when I lived in Delft. See you!",
	}
	var out []memory.Message
	for i, l := range lines {
		speaker, content, _ := strings.Cut(l, ": ")
		out = append(out, memory.Message{ID: memory.MessageID(fmt.Sprintf("t%02d", i+1)), Seq: uint64(i + 1), Role: memory.RoleUser, Speaker: speaker,
			Content: content, Time: said.Add(time.Duration(i) * time.Minute)})
	}
	out[8].Images = []memory.Image{{Caption: "a photo of a brown puppy on a sofa"}}
	return out
}

func TestGolden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, f := range facts(t, transcript()...) {
		fmt.Fprintf(&b, "%s %s/%s %.1f %s\n", f.Sources[0].Message, f.Kind, f.Type, f.Confidence, f.Text)
		if !f.Occurred.IsZero() {
			fmt.Fprintf(&b, "    occurred %s to %s\n", f.Occurred.From.Format(time.DateOnly), f.Occurred.To.Format(time.DateOnly))
		}
		if f.State != nil {
			fmt.Fprintf(&b, "    state %s: %s = %s\n", f.State.Subject, f.State.Attribute, f.State.Value)
		}
		fmt.Fprintf(&b, "    entities %v tags %v\n", f.Entities, f.Tags)
	}
	const file = "testdata/transcript.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the facts are no longer those of %s (-update writes it anew):\n%s", file, b.String())
	}
}

func FuzzExtract(f *testing.F) {
	for _, s := range []string{"I'm a nurse, I've been to \"Rome\" and I.", "'s I' 'I ’I don’t", "So so so, and but", "My my mine me we us our", "yesterday (I) we're 99999 years ago?",
		"She's. He'd! Her", "#tag ##a# #", "```a``` b```", "\x00\xff I went", "And I and I and I", "你好。我喜欢猫", strings.Repeat("I am ", 900), "Hey Al, Al, Al!"} {
		f.Add(s, "Alice", "user", "caption of it")
	}
	f.Fuzz(func(t *testing.T, content, speaker, role, caption string) {
		body := memory.Message{ID: "m1", Seq: 1, Role: memory.Role(role), Speaker: speaker, Content: content, Time: said, Images: []memory.Image{{Caption: caption}}}
		in := extract.Input{Bank: "b", Session: "s", New: []memory.Message{body, {ID: "m2", Seq: 2, Role: memory.RoleUser, Speaker: "Bob", Content: content, Time: said}}}
		drafts, err := rules.New().Extract(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		facts, _ := extract.Validate(in, rules.Name, drafts, redactor{})
		for _, f := range facts {
			if memory.NormalText(f.Text) == "" || !utf8.ValidString(f.Text) {
				t.Fatalf("text %q", f.Text)
			}
			for _, s := range f.Sources {
				if s.Message != "m1" && s.Message != "m2" {
					t.Fatalf("source %q", s.Message)
				}
			}
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	messages := transcript()
	x := rules.New()
	for b.Loop() {
		if _, err := x.Extract(b.Context(), extract.Input{New: messages}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(messages))*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
