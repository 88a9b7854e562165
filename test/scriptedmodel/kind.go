package scriptedmodel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is a way a call can go wrong.
type Kind string

// The faults. The first group refuses the call with an HTTP status, the second
// never answers properly, the third spoils an answer that would have been right.
const (
	RateLimit    Kind = "429" // with Retry-After
	ServerError  Kind = "500"
	BadGateway   Kind = "502"
	Overloaded   Kind = "503" // with Retry-After
	BadRequest   Kind = "400"
	Unauthorised Kind = "401"
	TooLong      Kind = "too-long"  // 400: the prompt is longer than the model's context
	NoSchema     Kind = "no-schema" // 400 for a call with a JSON schema, nothing for others
	NoFormat     Kind = "no-format" // 400 for a call with any response_format, nothing for others
	NoTools      Kind = "no-tools"  // 400 for a call with tools, nothing for others

	Hang  Kind = "hang"  // nothing comes until the client goes away, or Wait has passed: then 504
	Slow  Kind = "slow"  // the answer trickles: a hundredth of it each Wait/100
	Reset Kind = "reset" // the connection is reset in the middle of the answer
	Cut   Kind = "cut"   // the connection is closed in the middle of the answer

	Truncated    Kind = "truncated"    // the answer ends in the middle, finish_reason "stop"
	Length       Kind = "length"       // the answer ends in the middle, finish_reason "length"
	Fences       Kind = "fences"       // the JSON stands in a Markdown code block
	Prose        Kind = "prose"        // the JSON stands between sentences
	BareList     Kind = "bare-list"    // the list without the object around it
	WrongTypes   Kind = "types"        // every value has another type than asked for
	BadItem      Kind = "bad-item"     // one item of ten (at least one) is of wrong types
	MissingIDs   Kind = "missing-ids"  // items without the fields that name what they rest on
	ForeignIDs   Kind = "foreign-ids"  // items name numbers that are shown, and not theirs to name
	InventedIDs  Kind = "invented-ids" // items name numbers that were never shown
	Duplicates   Kind = "duplicates"   // every item twice
	Empty        Kind = "empty"        // the answer is the empty text
	NoItems      Kind = "no-items"     // right JSON with empty lists
	Megabytes    Kind = "megabytes"    // texts of four megabytes
	InvalidUTF8  Kind = "utf8"         // bytes that are no UTF-8 inside the texts
	SingleQuotes Kind = "quotes"       // 'single quotes', and trailing commas,
	Refusal      Kind = "refusal"      // a sentence that declines
	WebPage      Kind = "html"         // status 200 with a web page
	NoChoices    Kind = "no-choices"   // right JSON around no answer
)

// Kinds returns all faults in the order of their declaration.
func Kinds() []Kind {
	return []Kind{RateLimit, ServerError, BadGateway, Overloaded, BadRequest, Unauthorised, TooLong, NoSchema, NoFormat, NoTools, Hang, Slow, Reset, Cut, Truncated, Length, Fences,
		Prose, BareList, WrongTypes, BadItem, MissingIDs, ForeignIDs, InventedIDs, Duplicates, Empty, NoItems, Megabytes, InvalidUTF8,
		SingleQuotes, Refusal, WebPage, NoChoices}
}

// status is the HTTP status a kind refuses with; 0 for one that does not refuse.
func (k Kind) status() int {
	switch k {
	case TooLong, NoSchema, NoFormat, NoTools:
		return 400
	}
	if n, err := strconv.Atoi(string(k)); err == nil {
		return n
	}
	return 0
}

// concerns reports whether the fault applies to a call.
func (k Kind) concerns(req *Request) bool {
	switch k {
	case NoSchema:
		return req.Format == "json_schema"
	case NoFormat:
		return req.Format != ""
	case NoTools:
		return len(req.Tools) > 0
	}
	return true
}

// answers reports whether a call with this fault still has an answer.
func (k Kind) answers() bool { return k.status() == 0 && k != Hang }

// Fault is a fault by rule.
type Fault struct {
	Kind  Kind
	Stage string        // only calls of this stage; "" = all
	Every int           // each n-th of those calls; 0 and 1 = each
	After int           // calls let through before the rule begins
	Times int           // at most so often; 0 = without end
	Wait  time.Duration // Retry-After, the bound of a hang, the time a trickle takes; 0 = DefaultWait
}

// DefaultWait is the bound of a hang and how long a trickle takes unless a
// fault says otherwise; for Retry-After it is a second.
const DefaultWait = 30 * time.Second

// ParseFault reads "kind[:stage=extract][:every=3][:after=2][:times=5][:wait=2s]".
func ParseFault(text string) (Fault, error) {
	parts := strings.Split(text, ":")
	f := Fault{Kind: Kind(strings.TrimSpace(parts[0]))}
	if !slices.Contains(Kinds(), f.Kind) {
		return Fault{}, fmt.Errorf("fault %q: no such kind; there are %s", text, kindList())
	}
	for _, p := range parts[1:] {
		name, value, _ := strings.Cut(p, "=")
		var err error
		switch strings.TrimSpace(name) {
		case "stage":
			f.Stage = value
		case "every":
			f.Every, err = count(value)
		case "after":
			f.After, err = count(value)
		case "times":
			f.Times, err = count(value)
		case "wait":
			f.Wait, err = time.ParseDuration(value)
			if err == nil && f.Wait < 0 {
				err = fmt.Errorf("%s is negative", value)
			}
		default:
			err = fmt.Errorf("unknown; expected stage, every, after, times or wait")
		}
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %s: %w", text, name, err)
		}
	}
	return f, nil
}

func count(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number from 1 up", text)
	}
	return n, nil
}

func kindList() string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}
