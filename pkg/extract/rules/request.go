package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/date"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// A request asks for something now: "Write me a letter", "Can you fix my parser", "Book a table for Friday". It is no
// statement, and is kept as a question is: that it was asked. What asks for something from now on is an instruction.

const (
	// requestVerbs are what one asks a bot, or somebody, to do.
	requestVerbs = `write|give|explain|show|summari[sz]e|translate|rewrite|rephrase|paraphrase|fix|send|add|book|check|compare|plan|help|` +
		`recommend|suggest|` +
		`tell|ask|find|list|create|draft|generate|calculate|convert|describe|define|remind|search|cancel|reschedule|schedule|remove|delete|update|` +
		`change|review|proofread|shorten|expand|continue|design|code|implement|debug|refactor|analy[sz]e|evaluate|outline|brainstorm|prepare|` +
		`choose|rank|sort|` +
		`solve|prove|pretend|imagine|provide|wake|remember|forget|do not forget|don't forget|edit|format|simplify|research|estimate|confirm|verify`
	// meVerbs are requests too with the speaker behind them. Alone they begin what people say of themselves, who leave
	// out "I": "Read the book", "Play the guitar".
	meVerbs = `let|read|play|set|keep|make|walk|get|put|build|call|text|email|mail|reply|respond|answer|order|count|turn|pick|` +
		`teach|lend|bring|buy|cook|sing|drive|open`
	// please stands before a request.
	please = `(?:(?:please|pls|plz|kindly|just|now|then|next|also|so|and|but|first|again|hey|ok|okay) )*`
)

var (
	// toSpeaker are requests for the speaker, whoever is asked.
	toSpeaker = pattern.New(`^ ` + please + `(?:(?:` + requestVerbs + `|` + meVerbs + `) (?:me|us)|(?:` + requestVerbs + `) (?:my|our)|` +
		`(?:set|make|get|play|read|put|turn|order|build) (?:\p{L}+ ){1,4}(?:for me|for us|to me)) `)
	// toBot are requests where a bot listens. Elsewhere they may be notes of what is to be done.
	toBot = pattern.New(`^ ` + please + `(?:(?:` + requestVerbs + `) (?:a|an|the|this|that|these|those|some|any|all|every|each|more|` +
		`another|both|it|him|her|his|their|them|your|` +
		`one|two|three|four|five|six|seven|eight|nine|ten|\d+|how|what|who|whom|whose|why|when|where|which|whether|if|up|off|for|in|into|about|` +
		`with|out) |` +
		`(?:explain|summari[sz]e|translate|rewrite|rephrase|recommend|suggest|generate|calculate|convert|describe|define|brainstorm|provide|` +
		`analy[sz]e|remind|add|ask|tell) [\p{L}\d'-]+ |` +
		`set (?:a|an|the|my) (?:\p{L}+ ){0,2}(?:timer|alarm|reminder) |(?:play|put on|turn|open|order) (?:some|the|up|on|off|down) |make (?:it|` +
		`this|that|them) )`)
	// openQuestions are the beginnings of questions that need no mark.
	openQuestions = pattern.New(`^ ` + please + `(?:(?:can|could|would|will|should|may|shall|can't|couldn't|won't) (?:you|u|i|we) |` +
		`(?:do|did|are|were|have) you |(?:is|are|was|were|does|do) (?:it|this|that|there|they) |` +
		`how (?:do|does|did|can|could|should|would|to|much|many|long|often) |(?:what|where|why|who|which) (?:is|are|was|were|do|does|did|can|` +
		`could|should|would) |how about |what about |(?:how|where|when|why)'?s |whats |` +
		`(?:what's|who'?s) (?:the|my|your|our|this|that|wrong|next|left|going|coming|happening|there|in|on|at) )`)
	// bothers are requests by which nothing is asked for but an answer or patience.
	bothers = pattern.New(`^ ` + please + `(?:let (?:me|us) (?:know|see|think|check|guess|ask|clarify|rephrase|start|begin|be|just)|` +
		`tell me (?:about it|more)|give me a (?:sec|second|moment|minute|min|break)|` +
		`keep me posted|feel free|help yourself) `)
	// telling are forms of requests that tell something: what to look at, where somebody is reached.
	telling = pattern.New(`^ ` + please + `(?:check (?:out|this)|(?:mail|email|e-mail|call|text|ping|write|reach|message|find|` +
		`add) (?:me|us) (?:at|on|under|via|as)) `)
)

// isRequest reports whether a sentence without a question mark asks for something. Of assistant and tool it is only what
// asks for an answer: what they say in the imperative is advice.
func (t *drafter) isRequest(low string) bool {
	switch {
	case bothers.MatchString(low):
		return true
	case t.message.Role != memory.RoleUser, telling.MatchString(low):
		return false
	}
	return openQuestions.MatchString(low) || (toSpeaker.MatchString(low) || t.cast.bot && toBot.MatchString(low)) && !hasVerb(low)
}

// hasVerb reports whether what begins like a request has a verb besides, so that the first word is its subject: "Code for
// the gate is 4471", "Fix for the leak arrived". A verb of a clause of its own does not count.
func hasVerb(low string) bool {
	words := strings.Fields(low)
	for i, w := range words[1:] {
		if clause.Has(w) || ownClause.Has(w) {
			return false
		}
		if beForms.Has(w) || finite.Has(w) || i > 1 && text.IsPastForm(w) {
			return true
		}
	}
	return false
}

// ownClause are words that begin a clause, besides those of clause.
var ownClause = text.NewWordSet(`that whether whom whose why my i'm i've i'll we're than and or about me`)

// request keeps a request that names a time or somebody, tells something of the speaker, or says much. What is told behind
// it is read for itself.
func (t *drafter) request(s string) {
	s, told := cutStatement(s)
	t.keepRequest(s)
	if told != "" {
		t.sentence(told)
	}
}

func (t *drafter) keepRequest(s string) {
	ps := split(s)
	low := phrase(ps)
	dates := date.Find(s, t.message.Time, string(text.English))
	content, least := t.content(s), 6
	switch {
	case len(dates) > 0:
		least = 1
	case bothers.MatchString(low):
		return
	case ofSpeaker.MatchString(low), len(text.Names(s)) > 0:
		least = 3
	}
	if content < least {
		return
	}
	t.ask(punctuate(t.quote("asked", date.Annotate(s, dates), personsOf(ps))), s, ps, dates)
}

// cutStatement cuts a request before what its speaker tells behind a mark: "Check my invoice, I think the VAT is wrong".
func cutStatement(s string) (asked, told string) {
	at := statementBehind.FindStringSubmatchIndex(s)
	if at == nil {
		return s, ""
	}
	return s[:at[0]], s[at[2]:]
}

// statementBehind finds a mark and a clause about the speaker with its verb behind it.
var statementBehind = pattern.New(`(?i)(?:[,;!] ?|\.\.\. ?|… ?| [-–—] | (?:but|because|cause|cuz) )(?:(?:because|since|as|cause|cuz|so|but|and) )?((?:i|we)(?:['’](?:m|ve|ll|d|re))? \pL|` +
	`(?:my|our) (?:\pL+ ){1,3}(?:is|are|was|were|has|have|had|keeps|won't|doesn't|can't|will) )`)

// ofSpeaker finds what speakers say of themselves or of what is theirs; "me" alone says nothing.
var ofSpeaker = pattern.New(` (?:i|i'm|i've|i'll|i'd|im|my|mine|we|we're|we've|our) `)
