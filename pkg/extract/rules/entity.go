package rules

import (
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// maxEntities bounds the entities of one fact.
const maxEntities = 16

// entities returns what a text is about, sorted: the speaker if the text names them, every name, and every known entity
// by one of its spellings.
func (t *drafter) entities(s string) []memory.EntityID {
	var out []memory.EntityID
	add := func(id memory.EntityID) {
		if id != "" && len(id) <= memory.MaxID && len(out) < maxEntities && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	low := phrase(split(s))
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
	for _, n := range text.Names(s) {
		p := phraseOf(n)
		if p == "" || p == phraseOf(t.me) || taken[p] || nameless.Has(p) || strings.HasPrefix(p, "new year") {
			continue
		}
		id := t.entity(s, n)
		if typ, _ := id.Split(); typ == memory.EntityOther && !strings.Contains(p, " ") && opensOnly(s, n) {
			continue
		}
		add(id)
	}
	slices.Sort(out)
	return out
}

// opensOnly reports whether a word occurs only where a sentence begins, so that its capital says nothing.
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

// nameless are capitalised words that name nothing by themselves.
var nameless = text.NewWordSet(`mr mrs ms dr mom dad pm am ok lol italian french german english spanish american british chinese japanese mexican indian korean
	greek european asian african canadian australian dutch swedish portuguese russian turkish thai vietnamese brazilian irish scottish christian
	jewish muslim catholic greetings god internet asap diy tv pc years year eve`)

func phraseOf(name string) string { return strings.TrimSpace(phrase(split(name))) }

// personID returns the entity of a participant: "the user" is person:user.
func personID(name string) memory.EntityID {
	return memory.NewEntityID(memory.EntityPerson, strings.TrimPrefix(name, "the "))
}

// entity guesses the type of a name.
func (t *drafter) entity(s, name string) memory.EntityID {
	for _, p := range t.cast.people {
		if strings.EqualFold(p, name) || hasName(p) && len(name) >= 3 && len(p) > len(name) && strings.EqualFold(p[:len(name)], name) {
			return personID(p)
		}
	}
	if slices.Contains(t.met, name) {
		return memory.NewEntityID(memory.EntityPerson, name)
	}
	head, _, several := strings.Cut(name, " ")
	last := strings.ToLower(name[strings.LastIndexByte(name, ' ')+1:])
	at := strings.Index(s, name)
	prev, prevTwo := wordsBefore(s, at)
	switch {
	case text.KnownPlace(name), text.KnownPlace(head) && several && !organizations.Has(last):
		return memory.NewEntityID(memory.EntityPlace, name)
	case organizations.Has(last):
		return memory.NewEntityID(memory.EntityOrganization, name)
	case places.Has(last):
		return memory.NewEntityID(memory.EntityPlace, name)
	case head == "Project" || last == "project":
		return memory.NewEntityID(memory.EntityProject, name)
	case text.KnownPerson(head), actsAsPerson(s[at+len(name):]), titles.Has(strings.ToLower(strings.TrimSuffix(head, "."))), prev == "named" && namesRelative(s), relatives.Has(prev):
		return memory.NewEntityID(memory.EntityPerson, name)
	case strings.HasPrefix(prevTwo, "work") && (prev == "at" || prev == "for"), prevTwo == "job" && prev == "at", prevTwo == "joined" && prev == "the", prev == "joined":
		return memory.NewEntityID(memory.EntityOrganization, name)
	case tools.Has(prev) || tools.Has(prevTwo):
		return memory.NewEntityID(memory.EntityTool, name)
	case strings.Contains(name, ".") && !strings.Contains(name, " ") && !strings.HasSuffix(name, "."):
		return memory.NewEntityID(memory.EntityFile, name)
	case (prev == "in" || prev == "to" || prev == "from" || prev == "near" || prev == "visited" || prev == "visit") && strings.ToUpper(name) != name:
		return memory.NewEntityID(memory.EntityPlace, name)
	}
	return memory.NewEntityID(memory.EntityOther, name)
}

// actsAsPerson reports whether what follows a name is what is said of people alone: "lives with", "moved out", "told me".
func actsAsPerson(after string) bool {
	f := strings.Fields(strings.ToLower(after))
	return len(f) > 1 && doneByPeople[f[0]+" "+strings.Trim(f[1], ".,;:!?")]
}

var doneByPeople = phraseSet([]string{"lives with", "moved in", "moved out", "told me", "told us", "asked me", "asked us", "called me", "texted me", "invited me",
	"invited us", "is my", "is our", "broke up", "got married", "got engaged", "gave birth"})

// withPerson adds the person whose state a fact gives, in place of an entity of that name and no known type.
func withPerson(entities []memory.EntityID, subject memory.EntityID) []memory.EntityID {
	_, name := subject.Split()
	out := make([]memory.EntityID, 0, len(entities)+1)
	for _, e := range entities {
		if typ, n := e.Split(); e != subject && (n != name || typ != memory.EntityOther) {
			out = append(out, e)
		}
	}
	out = append(out, subject)
	slices.Sort(out)
	return out
}

// namesRelative reports whether a sentence speaks of somebody's relative.
func namesRelative(text string) bool {
	return slices.ContainsFunc(split(text), func(p piece) bool { return relatives.Has(p.low) })
}

// wordsBefore returns the word before byte at, and the one before that, in lower case.
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
	organizations = text.NewWordSet(`inc corp ltd gmbh university college school hospital bank museum church club company institute foundation agency
		studio team association academy center centre department council league society union group lab labs`)
	places = text.NewWordSet(`city park beach lake mountain mountains island islands river street avenue road falls canyon valley bay square national coast bridge hill trail forest airport station`)
	titles = text.NewWordSet(`dr mr mrs ms prof professor aunt uncle grandma grandpa captain coach`)
	tools  = text.NewWordSet(`using use uses used install installed tool library framework app cli run runs`)
)

// dangling are the subjects that only the sentence before explains.
var dangling = text.NewWordSet(`it it's its that that's this these those they they're they've their them he she he's she's his her him there there's here here's which
	who both none each everyone everything nothing something such`)

// pronounAs returns the pieces with "he" or "she" at their front replaced by a name, "" if there is none.
func pronounAs(ps []piece, about string) string {
	i := next(ps, 0)
	if i >= len(ps) {
		return ""
	}
	base, rest, _ := strings.Cut(ps[i].low, "'")
	with := ""
	switch {
	case base != "he" && base != "she" && base != "his" && base != "her":
		return ""
	case base == "his", base == "her":
		j := next(ps, i+1)
		if j >= len(ps) || !spaces(ps, i, j) || text.Terms(ps[j].text)[0].Stop {
			return ""
		}
		with = about + "'s"
	case rest == "s":
		with = about + " is"
		if j := next(ps, i+1); j < len(ps) && (pastPart(ps[j].low) || ps[j].low == "been") {
			with = about + " has"
		}
	case rest == "ll":
		with = about + " will"
	case rest == "d":
		with = about + " would"
	case rest == "":
		with = about
	default:
		return ""
	}
	return join(ps[:i]) + with + join(ps[i+1:])
}

// relatives are the people somebody has.
var relatives = text.NewWordSet(`sister brother mom mother mum dad father son daughter wife husband partner girlfriend boyfriend fiancé fiancée friend boss manager
	colleague coworker roommate neighbor neighbour aunt uncle cousin grandma grandmother grandpa grandfather niece nephew teacher coach
	mentor therapist doctor landlord grandson granddaughter stepson stepdaughter mother-in-law father-in-law ex`)

// namedPeople returns the people whom a sentence names; without names, "my sister" as the speaker's.
func namedPeople(s, me string) []string {
	var out []string
	for _, n := range text.Names(s) {
		head, _, _ := strings.Cut(n, " ")
		if text.KnownPerson(head) {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		return out
	}
	ps := split(s)
	for i := range ps {
		if ps[i].low != "my" {
			continue
		}
		for j, n := next(ps, i+1), 0; j < len(ps) && n < 2; j, n = next(ps, j+1), n+1 {
			if !relatives.Has(ps[j].low) {
				continue
			}
			who := me + "'s " + strings.TrimSpace(join(ps[i+1:j+1]))
			if k := next(ps, j+1); k < len(ps) && spaces(ps, j, k) && len(ps[k].text) > 2 && ps[k].text[0] >= 'A' && ps[k].text[0] <= 'Z' {
				who = ps[k].text // my sister Lena
			}
			out = append(out, who)
			break
		}
	}
	return out
}
