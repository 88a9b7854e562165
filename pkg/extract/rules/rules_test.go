package rules_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/extract"
	"github.com/eunoe-memory/eunoe/pkg/extract/rules"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Monday 8 May 2023.
var said = time.Date(2023, 5, 8, 13, 56, 0, 0, time.UTC)

func by(speaker, content string) memory.Message {
	return memory.Message{ID: "m1", Seq: 1, Role: memory.RoleUser, Speaker: speaker, Content: content, Time: said}
}

// read returns the drafts of messages, with the ids m1, m2, … where they have none of their own.
func read(t testing.TB, messages ...memory.Message) []extract.Draft {
	t.Helper()
	drafts, err := rules.New().Extract(t.Context(), extract.Input{Bank: "b", Session: "s", New: messages})
	if err != nil {
		t.Fatal(err)
	}
	return drafts
}

func texts(drafts []extract.Draft) string {
	var out []string
	for _, d := range drafts {
		out = append(out, d.Text)
	}
	return strings.Join(out, " | ")
}

func TestWording(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		// The first person becomes the speaker.
		"I'm a nurse at the hospital.":                    "Alice is a nurse at the hospital.",
		"I've lived in Lisbon since 2019.":                "Alice has lived in Lisbon since 2019.",
		"I love hiking and go to the Alps every summer!":  "Alice loves hiking and goes to the Alps every summer!",
		"i dont like mushrooms":                           "Alice doesn't like mushrooms.",
		"Mine was stolen on the ferry.":                   "Alice said: Mine was stolen on the ferry.",
		"I don't eat meat.":                               "Alice doesn't eat meat.",
		"I was born in Porto.":                            "Alice was born in Porto.",
		"I'd love to visit Japan.":                        "Alice would love to visit Japan.",
		"I'd been working at Acme before.":                "Alice had been working at Acme before.",
		"I really miss my grandma.":                       "Alice really misses their grandma.",
		"My sister lives in Porto.":                       "Alice's sister lives in Porto.",
		"My dog Rex hurt himself, so I stayed home.":      "Alice's dog Rex hurt himself, so Alice stayed home.",
		"My wife and I are moving to Madrid.":             "Alice's wife and Alice are moving to Madrid.",
		"The doctor told me to rest.":                     "The doctor told Alice to rest.",
		"I taught myself to code.":                        "Alice taught themself to code.",
		"So yeah, I've adopted a cat.":                    "Alice has adopted a cat.",
		"My dad calls me \"Lion\" and I hate it.":         "Alice's dad calls Alice \"Lion\" and Alice hates it.",
		"Climbing the tower with her cost me two days.":   "Climbing the tower with her cost Alice two days.",
		"My garden is my joy and I hope it lasts.":        "Alice's garden is their joy and Alice hopes it lasts.",
		"I can't eat nuts, neither can my brother.":       "Alice can't eat nuts, neither can their brother.",
		"I try to run, but I often watch series instead.": "Alice tries to run, but Alice often watches series instead.",
		// Several become several.
		"We went camping with our kids.":                "Alice said: We went camping with our kids.",
		"Our dog Max is sick.":                          "Alice said: Our dog Max is sick.",
		"I hope we can keep our garden.":                "Alice said: I hope we can keep our garden.",
		"My wife and I sold the boat, so we have time.": "Alice's wife and Alice sold the boat, so they have time.",
		"Me and Bob repaired our fence.":                "Alice and Bob repaired their fence.",
		// A subject left out comes back.
		"Went to the dentist with Carla.":            "Alice went to the dentist with Carla.",
		"Gonna continue my studies in Rome.":         "Alice is gonna continue their studies in Rome.",
		"It's been three weeks since I last smoked.": "It's been three weeks since Alice last smoked.",
		"I see a therapist.":                         "Alice sees a therapist.",
		"I understand Polish.":                       "Alice understands Polish.",
		"Trying to learn the violin at the moment.":  "Alice is trying to learn the violin at the moment.",
		"Been working on a mural for the library.":   "Alice has been working on a mural for the library.",
		"Just finished a marathon in under 4 hours!": "Alice just finished a marathon in under 4 hours!",
		// Openers go.
		"Oh wow, thanks! By the way, I bought a boat.": "Alice bought a boat.",
		"Yeah, I work as a teacher.":                   "Alice works as a teacher.",
		"Please remember that I'm allergic to nuts.":   "Alice is allergic to nuts.",
		"I moved to Lisbon, can you believe it?":       "Alice moved to Lisbon.",
		// Relative dates are written out.
		"I went to a support group yesterday.":   "Alice went to a support group yesterday (7 May 2023).",
		"I ran a race last week.":                "Alice ran a race last week (1 to 7 May 2023).",
		"I moved to Lisbon in May 2021.":         "Alice moved to Lisbon in May 2021.",
		"I graduated two years ago.":             "Alice graduated two years ago (2021).",
		"I'm flying to Rome next month.":         "Alice is flying to Rome next month (June 2023).",
		"We painted the house last summer.":      "Alice said: We painted the house last summer (June to August 2022).",
		"I saw Carla on Friday and she was sad.": "Alice saw Carla on Friday (5 May 2023) and she was sad.",
		// What only the sentence before explains is joined to it.
		"I went to a pottery class. It was relaxing and creative.": "Alice went to a pottery class. It was relaxing and creative.",
		"My sister lives in Porto. She's a nurse.":                 "Alice's sister lives in Porto. She's a nurse.",
		"I met Carla today. She works at Acme.":                    "Alice met Carla today (8 May 2023). She works at Acme.",
		"I met Carla and Bob. She works at Acme.":                  "Alice met Carla and Bob. She works at Acme.",
		// Others are told as said.
		"The new bakery on Elm Street opens at seven.": "Alice said: The new bakery on Elm Street opens at seven.",
		"Lisbon has the best pastries in Europe.":      "Lisbon has the best pastries in Europe.",
		"Always use tabs in Go files.":                 "Alice asked: Always use tabs in Go files.",
		// Other languages are kept as said.
		"Ich wohne mit meiner Schwester in Berlin.": "Alice: Ich wohne mit meiner Schwester in Berlin.",
		"我喜欢喝绿茶。":                                   "Alice: 我喜欢喝绿茶。",
		// Talk that states nothing makes no fact.
		"Hi there! How are you?":                 "",
		"Thanks, that sounds great!":             "",
		"Wow, that's so cool!":                   "",
		"Good luck! Take care, talk soon.":       "",
		"You're welcome!":                        "",
		"I agree.":                               "",
		"lol ok":                                 "",
		"😊😊":                                     "",
		"What do you think?":                     "",
		"Keep up the great work!":                "",
		"Reading helps children.":                "",
		"{\"error\": {\"code\": 17}}":            "",
		"```go\nfunc main() { println(1) }\n```": "",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			if got := texts(read(t, by("Alice", said))); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestWordingOfRoles(t *testing.T) {
	t.Parallel()
	t.Run("a user without a name is the user", func(t *testing.T) {
		t.Parallel()
		got := read(t, by("user", "I live in Lisbon and my cat is called Tom."))
		if texts(got) != "The user lives in Lisbon and their cat is called Tom." || !slices.Contains(got[0].Entities, "person:user") {
			t.Errorf("got %q %v", texts(got), got[0].Entities)
		}
	})
	t.Run("what the agent did is its experience", func(t *testing.T) {
		t.Parallel()
		m := memory.Message{ID: "m1", Role: memory.RoleAssistant, Speaker: "assistant", Content: "I booked the flight to Rome for 3 June 2023.", Time: said}
		got := read(t, m)
		if texts(got) != "The assistant booked the flight to Rome for 3 June 2023." || got[0].Kind != memory.KindExperience {
			t.Errorf("got %q of kind %q", texts(got), got[0].Kind)
		}
	})
	t.Run("you is the other one of two", func(t *testing.T) {
		t.Parallel()
		bob := memory.Message{ID: "m2", Speaker: "Bob", Role: memory.RoleUser, Content: "I got you and your sister tickets for the opera.", Time: said}
		got := read(t, by("Alice", "I planted tomatoes."), bob)
		if texts(got) != "Alice planted tomatoes. | Bob got Alice and Alice's sister tickets for the opera." {
			t.Errorf("got %q", texts(got))
		}
	})
	t.Run("a name that is called is no part of the statement", func(t *testing.T) {
		t.Parallel()
		bob := memory.Message{ID: "m2", Speaker: "Bob", Role: memory.RoleUser, Content: "Hey Ali! Alice, I sold the boat, Alice!", Time: said}
		got := read(t, by("Alice", "Hello!"), bob)
		if texts(got) != "Bob sold the boat!" {
			t.Errorf("got %q", texts(got))
		}
	})
	t.Run("a picture is a message that is found, and no fact", func(t *testing.T) {
		t.Parallel()
		m := by("Alice", "Look!")
		m.Images = []memory.Image{{Caption: "a photo of a dog on a beach"}, {SHA256: "00"}}
		if got := read(t, m); len(got) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said       string
		typ        memory.Type
		kind       memory.Kind
		confidence float64
	}{
		{"I'm allergic to shellfish.", memory.TypeConstraint, memory.KindWorld, 1},
		{"I can't eat gluten.", memory.TypeConstraint, memory.KindWorld, 1},
		{"I prefer tea over coffee.", memory.TypePreference, memory.KindWorld, 1},
		{"My favourite colour is green.", memory.TypePreference, memory.KindWorld, 1},
		{"I went to Rome last week.", memory.TypeEvent, memory.KindWorld, 1},
		{"We decided to paint the kitchen blue.", memory.TypeDecision, memory.KindWorld, 1},
		{"I think the lease ends in spring.", memory.TypeBelief, memory.KindOpinion, .5},
		{"I think the museum is overrated.", memory.TypePreference, memory.KindWorld, 1},
		{"Apparently the landlord sold the house.", memory.TypeEvent, memory.KindWorld, .7},
		{"Never deploy on Fridays.", memory.TypeInstruction, memory.KindWorld, 1},
		{"The build fails when the cache is cold.", memory.TypeFailurePattern, memory.KindWorld, 1},
		{"The scanner doesn't work with the new driver.", memory.TypeFailurePattern, memory.KindWorld, 1},
		{"The CLI can export reports as CSV.", memory.TypeToolAffordance, memory.KindWorld, 1},
		{"To install it, first you unpack the archive.", memory.TypeProcedure, memory.KindWorld, 1},
		{"The outage came from an expired certificate.", memory.TypeOutcome, memory.KindWorld, 1},
		{"My house has three floors.", memory.TypeFact, memory.KindWorld, 1},
		{"Should I take the job at Google in June?", memory.TypeQuestion, memory.KindWorld, 1},
	} {
		t.Run(c.said, func(t *testing.T) {
			t.Parallel()
			got := read(t, by("Alice", c.said))
			if len(got) != 1 || got[0].Type != c.typ || got[0].Kind != c.kind || got[0].Confidence != c.confidence {
				t.Errorf("got %+v, want %s %s %v", got, c.typ, c.kind, c.confidence)
			}
		})
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{ // "" = none
		"I live in Lisbon.":                          "person:alice residence lisbon",
		"I moved to New York last week.":             "person:alice residence new york",
		"I've been living in Porto for two years.":   "person:alice residence porto",
		"I'm moving to Berlin next month.":           "person:alice residence berlin",
		"I'm moving to Berlin.":                      "",
		"We moved to Porto.":                         "person:alice residence porto",
		"My sister Carla lives in Rome.":             "person:carla residence rome",
		"My sister lives in Rome.":                   "person:alice's sister residence rome",
		"Bob lives in Paris.":                        "person:bob residence paris",
		"I lived in Paris when I was young.":         "",
		"I used to live in Paris.":                   "",
		"I no longer live in Paris.":                 "",
		"I don't live in Paris any more.":            "",
		"I might move to Paris.":                     "",
		"I want to live in Paris.":                   "",
		"I work at Acme.":                            "person:alice employer acme",
		"I got a new job at Globex.":                 "person:alice employer globex",
		"I work as a nurse.":                         "person:alice job nurse",
		"I'm a software engineer.":                   "person:alice job software engineer",
		"I became a teacher.":                        "person:alice job teacher",
		"I got engaged last week!":                   "person:alice marital status engaged",
		"I'm married to Bob.":                        "person:alice marital status married",
		"I turned 30 yesterday.":                     "person:alice age 30",
		"I'm 34 years old.":                          "person:alice age 34",
		"I'm vegan.":                                 "person:alice diet vegan",
		"My favorite colour is dark green.":          "person:alice favourite colour dark green",
		"My favourite book is Dune because of Paul.": "person:alice favourite book dune",
		"My name is Alice Smith.":                    "person:alice name alice smith",
		"My email is alice@example.com.":             "person:alice email alice@example.com",
		"My birthday is on 3 June.":                  "person:alice birthday 3 june",
		"My cat's name is Tom.":                      "person:alice cat's name tom",
		"I drive a Toyota Corolla.":                  "person:alice vehicle toyota corolla",
		"My time zone is CET.":                       "person:alice time zone cet",
		"I like Lisbon a lot because of the sea.":    "",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, d := range read(t, by("Alice", said)) {
				if d.State != nil {
					got = string(d.State.Subject) + " " + d.State.Attribute + " " + d.State.Value
				}
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestEntities(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"I met Carla in Lisbon.":                    "person:alice person:carla place:lisbon",
		"I work at Globex with Dr. Chen.":           "organization:globex person:alice person:dr. chen",
		"I visited Yosemite National Park.":         "person:alice place:yosemite national park",
		"I study at Stanford University.":           "organization:stanford university person:alice",
		"I use Emacs for Project Apollo on Monday.": "person:alice project:project apollo tool:emacs",
		"I bought two red bicycles.":                "person:alice",
		"My boss Petra is kind. She likes tea.":     "person:alice person:petra",
		"Zanele lives in Durban.":                   "person:zanele place:durban",
		"Ylva moved out.":                           "person:ylva",
		"Pizza arrived late.":                       "person:alice",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			got := ""
			for _, d := range read(t, by("Alice", said)) {
				for _, e := range d.Entities {
					got += string(e) + " "
				}
			}
			if strings.TrimSpace(got) != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	t.Run("a known alias names its entity", func(t *testing.T) {
		t.Parallel()
		got, err := rules.New().Extract(t.Context(), extract.Input{New: []memory.Message{by("Alice", "I flew home from the big apple.")},
			Entities: []memory.Entity{{ID: "place:new york", Name: "New York", Aliases: []string{"Big Apple"}}}})
		if err != nil || len(got) != 1 || len(got[0].Entities) != 2 || got[0].Entities[1] != "place:new york" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestBounds(t *testing.T) {
	t.Parallel()
	t.Run("a message of ordinary length yields at most ten facts", func(t *testing.T) {
		t.Parallel()
		if got := read(t, by("Alice", strings.Repeat("I bought a red boat in Lisbon. I sold two cars. ", 8))); len(got) > 10 {
			t.Errorf("%d facts", len(got))
		}
	})
	t.Run("a long message yields more, up to sixty", func(t *testing.T) {
		t.Parallel()
		got := read(t, by("Alice", strings.Repeat("I bought a red boat in Lisbon and sold two cars to Bob. ", 3000)))
		if len(got) != 60 {
			t.Errorf("%d facts", len(got))
		}
	})
	t.Run("dates stay unresolved where the message has no time", func(t *testing.T) {
		t.Parallel()
		m := by("Alice", "I went to Rome yesterday.")
		m.Time = time.Time{}
		if got := read(t, m); texts(got) != "Alice went to Rome yesterday." || !got[0].Occurred.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAnEncouragementWithANumberOrATimeIsKept(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Take bus 42 to Mitte.":     "Ana said: Take bus 42 to Mitte.",
		"Let's meet on 3 March.":    "Ana said: Let's meet on 3 March.",
		"Try platform 9, section C": "Ana said: Try platform 9, section C.",
		"The picnic is off.":        "Ana said: The picnic is off.",
		"The hamster died.":         "Ana said: The hamster died.",
		"Dinner is on.":             "",
		"Keep going!":               "",
		"Take it easy.":             "",
		"Try to enjoy it.":          "",
	} {
		got := ""
		for _, f := range facts(t, by("Ana", said)) {
			got += without(f.Text)
		}
		if got != want {
			t.Errorf("%q makes %q, want %q", said, got, want)
		}
	}
}

func TestOfAVeryLongMessageAllPartsAreRead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 6000 {
		switch i {
		case 3:
			b.WriteString("I moved to Lisbon in May 2020. ")
		case 5994:
			b.WriteString("I sold my boat Aurora to Ben. ")
		default:
			b.WriteString("The weather was fine that day. ")
		}
	}
	got := texts(read(t, by("Ana", b.String())))
	for _, want := range []string{"Lisbon", "Aurora"} {
		if !strings.Contains(got, want) {
			t.Errorf("no fact names %s: %.300s", want, got)
		}
	}
}
