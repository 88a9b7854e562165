package recall

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/query/recall/rank"
	"github.com/eunoe-memory/eunoe/pkg/text"
)

// form is a phrase that says how a question is to be answered, or where its matter was spoken of, and not what the matter
// is: "Can you give me a comprehensive summary of", "in order", "throughout our conversations". It is not looked up. No
// message about the matter has its words, and those that have them are about something else.
type form struct {
	hints  []string // one of which every phrase holds, in lower case; the expression is tried only where one is
	phrase *regexp.Regexp
	keeps  string // what stands in its place
}

// forms are the phrases of English, German and Chinese: a request with what is to be told, an order of time, a place in
// the talk, a verb of speaking whose subject is a party of the talk, and how long an answer may be.
var forms = []form{
	// English.
	phrase("item|point|word|sentence|thing|line|example|answer|step", `\b(?:mention|name|list|include|give|return|use|answer|reply)\b[^.?!]{0,30}\b(?:only|just|exactly|at\s+most|no\s+more\s+than)\b[^.?!]{0,30}`+
		`\b(?:item|point|word|sentence|thing|line|example|answer|step)s?\b`),
	phrase("you", start+politely),
	phrase("give|show|tell|provide|share|list|name|summari|recap|describe|outline|explain|remind|walk|take|guide|present",
		start+`(?:give|show|tell|provide|share|list|name|summari[sz]e|recap|describe|outline|explain|remind|walk|take|guide|present)\s+(?:(?:me|us)\s+)?`+
			`(?:(?:through|with|of|about|on)\s+)?(?:(?:an?|the|some|all|of)\s+)*(?:`+thorough+`(?:\s*,\s*|\s+and\s+|\s+))*`+
			`(?:(?:summary|overview|recap|rundown|outline|list|timeline|breakdown|order|sequence)\s+(?:in\s+(?:which|what)|of|about|on)(?:\s+all)?\b)?`),
	phrase("summary|overview|recap|rundown", `\b(?:an?|the)\s+(?:`+thorough+`\s+)*(?:summary|overview|recap|rundown)\s+(?:of|about|on)\b`),
	phrase("order", `\b(?:(?:in|by)\s+(?:(?:the|an?|what|which)\s+)?(?:`+chronological+`\s+)?order(?:\s+to)?|the\s+(?:`+chronological+`\s+)?order\s+(?:in\s+which|of\s+time))\b`),
	phrase("step by step|from first|from earliest|from oldest", `\b(?:step\s+by\s+step|from\s+(?:first|earliest|oldest)\s+to\s+(?:last|latest|newest))\b`),
	phrase("conversation|chat|discussion|dialogue|exchange|messages|talks",
		`\b(?:throughout|across|during|over|in|from|within|of)\s+(?:(?:all|of|the|whole|entire|course)\s+)*(?:our|my|your|these|this|previous|past|earlier)\s+(?:(?:previous|past|earlier|whole|entire)\s+)*`+
			`(?:conversation|chat|discussion|dialogue|exchange|message|talk)s?\b`),
	phrase("throughout|across", `\b(?:throughout|across)\s+(?:(?:all|of|our|my|the|these|whole|entire|multiple|different)\s+)*(?:conversation|chat|discussion|session|request|message)s?\b`),
	phrase("mention|discuss|brought|bring|talk|cover|went|said|say", `\b(?:(?:have|had|did|do)\s+)?(?:i|we|you)(?:['’](?:ve|d))?\s+(?:(?:have|had|did|also|already|ever|just|first|last|recently|previously)\s+)*`+
		`(?:brought\s+up|bring\s+up|mention(?:ed)?|discuss(?:ed)?|talk(?:ed)?\s+about|go\s+over|went\s+over|cover(?:ed)?|said|say)\b`),
	phrase("told you|tell you|to you", `\b(?:(?:told|tell)\s+you|(?:mention(?:ed)?|said|say)\s+to\s+you)(?:\s+(?:about|of))?\b`),
	phrase("mentioned|discussed|brought|talked", `\b(?:is|are|was|were|been|being|got)\s+(?:mentioned|discussed|brought\s+up|talked\s+about)\b`),
	phrase("different|various|several", `\b(?:different|various|several)\s+(?:aspects|topics|things|kinds|types|sorts)\s+(?:of|about|related\s+to)\b`),
	{[]string{"how many"}, regexp.MustCompile(`(?i)\bhow\s+many\s+(?:different|distinct|various)\b`), "how many"},
	{[]string{"get to work", "get to school", "get to the office", "get to my job"}, regexp.MustCompile(`(?i)\bget\s+to\s+(?:work|school|the\s+office|my\s+job)\b`), "commute"},
	{[]string{"for a living"}, regexp.MustCompile(`(?i)\bfor\s+a\s+living\b`), "as a job"},
	phrase("so far|until now|up to now|over time|in detail|in short|ever", `\b(?:so\s+far|until\s+now|up\s+to\s+now|over\s+time|in\s+(?:detail|short)|ever)\b`),

	// German.
	phrase("kannst|können sie|könnte|würdest|würden sie", start+`(?:bitte\s+)?(?:(?:kannst|könntest|würdest)\s+du|(?:können|könnten|würden)\s+sie)\s+(?:(?:mir|uns|bitte|mal)\s+)*`),
	phrase("gib|geben|nenn|zeig|erzähl|sag|list|beschreib|erklär|fass", start+`(?:bitte\s+)?(?:gib|nenne?|zeige?|erzähle?|sage?|liste|beschreibe?|erkläre?|fasse?|(?:geben|nennen|zeigen|erzählen|sagen)\s+sie)\s+`+
		`(?:(?:mir|uns|bitte|mal|alles|mehr|etwas)\s+)*(?:(?:über|von)\s+)?`),
	phrase("überblick|übersicht|zusammenfassung|liste", `\beinen?\s+(?:(?:kurz|ausführlich|genau|vollständig|umfassend)en?\s+)*(?:überblick|übersicht|zusammenfassung|liste)\s+(?:über|von|zu|aller|der)\b`),
	phrase("reihenfolge", `\b(?:(?:in|nach|der|die|welcher|(?:chronologisch|zeitlich|richtig)e[rn]?)\s+)*reihenfolge(?:,?\s+in\s+der)?\b`),
	phrase("gespräch|unterhaltung|chat|nachrichten", `\b(?:in|aus)\s+(?:(?:all|allen)\s+)?(?:unsere[nmr]|meinen|diese[nmr])\s+(?:bisherigen\s+)?(?:gespräche?n?|unterhaltung(?:en)?|chats?|nachrichten)\b`),
	phrase("bisher|bislang|laufe der|zusammenfassen|auflisten|aufzählen|jemals", `\b(?:bisher|bislang|im\s+laufe\s+der\s+zeit|zusammenfassen|auf(?:listen|zählen)\b|jemals)`),

	// Chinese.
	phrase("顺序", `按照?(?:时间|先后|发生)?的?(?:先后)?顺序`),
	phrase("列|总结|概|介绍|告诉|说|讲|回顾|描述|整理", `(?:请|能否|能不能|可以|可否|麻烦|你|您|帮我|给我|为我|帮忙|\s)+(?:列出|列举|总结|概括|概述|介绍|告诉我|说说|说一下|讲讲|回顾|描述|整理)(?:一下)?`),
	phrase("对话|聊天|谈话|交流", `在?我们(?:的|之前|以前|所有)*(?:对话|聊天记录|聊天|谈话|交流)(?:中|里|当中)?`),
	phrase("提到|提及|说到|谈到", `我(?:都|曾经?|之前|以前)*(?:提到|提及|说到|谈到)过?(?:的|了)?`),
}

const (
	start         = `(?:^|[.?!;]\s)\s*(?:` + politely + `)?`
	politely      = `(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?|please,?\s+|i(?:['’]d|\s+would)\s+like\s+(?:you\s+)?to\s+)`
	thorough      = `(?:comprehensive|clear|detailed|brief|short|full|complete|quick|concise|thorough|general)`
	chronological = `(?:chronological|correct|right|exact|proper|temporal)`
)

// phrase returns a form of an expression that is tried where the question holds one of the hints.
func phrase(hints, expression string) form {
	return form{strings.Split(hints, "|"), regexp.MustCompile(`(?i)` + expression), " "}
}

// preamble is the beginning of a question that asks for everything about something: its words are not looked up.
var preamble = regexp.MustCompile(`(?i)^\s*(?:please,?\s+)?(?:(?:what|anything)\s+(?:(?:else\s+)?(?:do|can|did)\s+)?you\s+(?:know|remember|recall|tell\s+me|have|learn)|` +
	`(?:can\s+you\s+)?tell\s+me(?:\s+(?:all|more|everything|something|anything)(?:\s+you\s+know)?)?|what\s+is\s+known|give\s+me\s+an?\s+(?:overview|summary))\s+(?:about|of|on)\s+`)

// withoutPreamble returns a query without its preamble, and whether it had one.
func withoutPreamble(query string) (string, bool) {
	at := preamble.FindStringIndex(query)
	if at == nil || strings.TrimSpace(query[at[1]:]) == "" {
		return query, false
	}
	return query[at[1]:], true
}

// longestRequest is the length in bytes of a last line beyond which it is a text and no request.
const longestRequest = 600

// withoutForm returns a query without the words of form in its last line. Where nothing else can be looked up, or that
// line is very long, it returns the query as it is.
func withoutForm(query string) string {
	line := strings.LastIndexByte(strings.TrimSpace(query), '\n') + 1
	if len(query)-line > longestRequest {
		return query
	}
	asked, lower := query[line:], strings.ToLower(query[line:])
	for _, f := range forms {
		if slices.ContainsFunc(f.hints, func(h string) bool { return strings.Contains(lower, h) }) {
			asked = f.phrase.ReplaceAllString(asked, f.keeps)
		}
	}
	if asked == query[line:] || len(rank.ParseQuestion(asked, time.Time{}, nil).Terms) == 0 {
		return query
	}
	return query[:line] + asked
}

// moved finds what says of a time that something was planned for it and took place at another: "originally planned for 12
// April", "wurde verschoben", 原定. It was spoken of when it was planned and when it was put off.
var moved = regexp.MustCompile(`(?i)\b(?:originally|initially|rescheduled|postponed|(?:put|called)\s+off|brought\s+forward|` +
	`ursprünglich|verschoben|vorverlegt|initialement|reporté|décalé|repoussé|originalmente|inicialmente|aplazad|pospuest|reprogramad|` +
	`originariamente|inizialmente|rimandat|rinviat|spostat|adiad|remarcad|oorspronkelijk|uitgesteld|verzet\b)|` +
	`原定|原计划|原計劃|改期|延期|推迟|推遲|日程変更|もともと|원래|연기(?:된|되)|перенес|отложил|изначально`)

// pastVerbs are the verbs of questions for what was.
var pastVerbs = text.NewWordSet("did was were had")

// overviewWords are the words of questions that ask for much.
var overviewWords = text.NewWordSet("overview summary summarize summarise everything profile overall")
