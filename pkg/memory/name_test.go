package memory_test

import (
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func TestPersonName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Dr. Petra Vogel": "Petra Vogel", "Prof. Dr. Ilse Brandt": "Ilse Brandt", "Señora Inés Ruiz": "Inés Ruiz",
		"Mr. Smith": "Mr. Smith", "Dr.": "Dr.", "🌸Misaki🌸": "Misaki", "Tom 👨\u200d👩\u200d👧": "Tom", "🔥🔥": "🔥🔥",
		"@river_fox": "river_fox", "@@x": "x", "@": "@", " Anna  Müller ": "Anna Müller", "علی\u200cرضا": "علی\u200cرضا", "": "",
	} {
		if got := memory.PersonName(name); got != want {
			t.Errorf("PersonName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAPersonHasOneIDHoweverTheNameIsDecorated(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Dr. Petra Vogel", "petra vogel", "Petra Vogel 🌻", "＠Petra Vogel"} {
		id := memory.NewEntityID(memory.EntityPerson, name)
		if id != "person:petra vogel" {
			t.Errorf("%q is %q", name, id)
		}
		if again, err := memory.ParseEntityID("entity", string(id)); err != nil || again != id {
			t.Errorf("%q is parsed as %q: %v", id, again, err)
		}
	}
	if id := memory.NewEntityID(memory.EntityProject, "Dr. Petra Vogel"); id != "project:dr. petra vogel" {
		t.Errorf("a project is called %q", id)
	}
}
