package rules

import (
	"sort"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxEntities bounds the entities of one fact.
const maxEntities = 16

// entities names what a text is about: the speaker where the text says so,
// every name, and what is known in the bank by one of its spellings.
func (t *teller) entities(text string) []memory.EntityID {
	var out []memory.EntityID
	add := func(id memory.EntityID) {
		if id == "" || len(id) > memory.MaxID || len(out) >= maxEntities {
			return
		}
		for _, have := range out {
			if have == id {
				return
			}
		}
		out = append(out, id)
	}
	low := phrase(split(text))
	if strings.Contains(low, " "+phraseOf(t.me)+" ") || strings.Contains(low, " "+phraseOf(t.me)+"'s ") {
		add(personID(t.me))
	}
	taken := map[string]bool{}
	for _, k := range t.cast.known {
		if strings.Contains(low, k.phrase) {
			add(k.id)
			taken[strings.TrimSpace(k.phrase)] = true
		}
	}
	for _, n := range analysis.Names(text) {
		p := phraseOf(n)
		if p == "" || p == phraseOf(t.me) || taken[p] || dull[p] || strings.HasPrefix(p, "new year") {
			continue
		}
		id := t.entity(text, n)
		if typ, _ := id.Split(); typ == memory.EntityOther && !strings.Contains(p, " ") && opensOnly(text, n) {
			continue
		}
		add(id)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

// opensOnly reports a word that stands only where a sentence begins, so that
// its capital says nothing.
func opensOnly(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return true
		}
		i += at
		before := strings.TrimRight(text[:i], " \"“(")
		if before != "" && !strings.ContainsAny(before[len(before)-1:], ".!?:;") {
			return false
		}
		at = i + len(name)
	}
}

// dull are words in capitals that name nothing by themselves.
var dull = words(`mr mrs ms dr mom dad pm am ok lol italian french german english spanish american british chinese japanese mexican indian korean
	greek european asian african canadian australian dutch swedish portuguese russian turkish thai vietnamese brazilian irish scottish christian
	jewish muslim catholic greetings god internet asap diy tv pc years year eve`)

func phraseOf(name string) string { return strings.TrimSpace(phrase(split(name))) }

// personID is the entity of somebody who talks: "the user" is person:user.
func personID(name string) memory.EntityID {
	return memory.NewEntityID(memory.EntityPerson, strings.TrimPrefix(name, "the "))
}

// entity guesses the type of a name.
func (t *teller) entity(text, name string) memory.EntityID {
	for _, p := range t.cast.people {
		if strings.EqualFold(p, name) || named(p) && len(name) >= 3 && len(p) > len(name) && strings.EqualFold(p[:len(name)], name) {
			return personID(p)
		}
	}
	if contains(t.met, name) {
		return memory.NewEntityID(memory.EntityPerson, name)
	}
	head, _, several := strings.Cut(name, " ")
	last := strings.ToLower(name[strings.LastIndexByte(name, ' ')+1:])
	at := strings.Index(text, name)
	prev, prevTwo := wordsBefore(text, at)
	switch {
	case analysis.KnownPlace(name), analysis.KnownPlace(head) && several && !organizations[last]:
		return memory.NewEntityID(memory.EntityPlace, name)
	case organizations[last]:
		return memory.NewEntityID(memory.EntityOrganization, name)
	case places[last]:
		return memory.NewEntityID(memory.EntityPlace, name)
	case head == "Project" || last == "project":
		return memory.NewEntityID(memory.EntityProject, name)
	case analysis.KnownPerson(head), titles[strings.ToLower(strings.TrimSuffix(head, "."))], prev == "named" && kinOrPet(text), kin[prev]:
		return memory.NewEntityID(memory.EntityPerson, name)
	case strings.HasPrefix(prevTwo, "work") && (prev == "at" || prev == "for"), prevTwo == "job" && prev == "at", prevTwo == "joined" && prev == "the", prev == "joined":
		return memory.NewEntityID(memory.EntityOrganization, name)
	case tools[prev] || tools[prevTwo]:
		return memory.NewEntityID(memory.EntityTool, name)
	case strings.Contains(name, ".") && !strings.Contains(name, " ") && !strings.HasSuffix(name, "."):
		return memory.NewEntityID(memory.EntityFile, name)
	case (prev == "in" || prev == "to" || prev == "from" || prev == "near" || prev == "visited" || prev == "visit") && strings.ToUpper(name) != name:
		return memory.NewEntityID(memory.EntityPlace, name)
	}
	return memory.NewEntityID(memory.EntityOther, name)
}

// withPerson adds the one whose state a fact gives; something of that name
// and no known type was this person.
func withPerson(entities []memory.EntityID, subject memory.EntityID) []memory.EntityID {
	_, name := subject.Split()
	out := make([]memory.EntityID, 0, len(entities)+1)
	for _, e := range entities {
		if typ, n := e.Split(); e != subject && (n != name || typ != memory.EntityOther) {
			out = append(out, e)
		}
	}
	out = append(out, subject)
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out
}

func kinOrPet(text string) bool {
	for _, p := range split(text) {
		if kin[p.low] {
			return true
		}
	}
	return false
}

// wordsBefore gives the word before byte at, and the one before that.
func wordsBefore(text string, at int) (prev, prevTwo string) {
	if at <= 0 {
		return "", ""
	}
	f := strings.Fields(strings.ToLower(text[:at]))
	if n := len(f); n > 0 {
		prev = f[n-1]
		if n > 1 {
			prevTwo = f[n-2]
		}
	}
	return prev, prevTwo
}

var (
	organizations = words(`inc corp ltd gmbh university college school hospital bank museum church club company institute foundation agency
		studio team association academy center centre department council league society union group lab labs`)
	places = words(`city park beach lake mountain mountains island islands river street avenue road falls canyon valley bay square national coast bridge hill trail forest airport station`)
	titles = words(`dr mr mrs ms prof professor aunt uncle grandma grandpa captain coach`)
	tools  = words(`using use uses used install installed tool library framework app cli run runs`)
)
