package rules

import (
	"regexp"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// An instruction is what asks the one spoken to, the bot, to behave in some way from now on. "Never mind", "don't worry"
// and "please come in" are none, nor is what people remind each other of.

// botVerbs are what a bot is asked to do: how it talks, and with which means it works.
const botVerbs = `(?:answer|repl|respond|writ|us|speak|talk|address|format|list|cit|quot|translat|summari[sz]|explain|suggest|recommend|ask|mention|includ|add|apologi[sz]|` +
	`assum|refer|greet|sign|start|end|begin|send|remind|prefer|avoid|correct|check|run|commit|deploy|test|show|round|convert|schedul|book|order)(?:e|y|ies|es|s|ing|ying|ting|ning)?`

var (
	// instructions are the forms of English instructions, over the lower-case words of a sentence between spaces.
	instructions = regexp.MustCompile(`^ (?:please )?(?:(?:from now on|in (?:the )?future|going forward) |(?:always|never) \p{L}+ |(?:do not|don't|don't ever|please|only|stop|remember to|make sure to|` +
		`make sure you|be sure to|don't forget to|keep in mind to) (?:always |never |only )?` + botVerbs + ` |` +
		`keep (?:your|the|all) (?:answers?|repl(?:y|ies)|responses?|messages?|texts?|tone|summaries) |be (?:brief|concise|short|polite|formal|informal|direct|honest|more|less) |` +
		`(?:answer|reply|respond) (?:\p{L}+ )*(?:in|with|only|briefly|always) |(?:use|speak|write) (?:only |always )?(?:\p{L}+ ){1,4}(?:with me|to me|in your|when you|from now on) |(?:use only|only use|stop using) |` +
		`call me [\p{L}'-]+ (?:from now on |please |instead |$))`)
	// noInstructions begin as instructions do and are none.
	noInstructions = regexp.MustCompile(`^ (?:please )?(?:never (?:mind|say never|been|had|heard|knew|thought|felt|met|tried|seen|gets?|got|happened|again|fails|too|a|the|ever|too|in|been|know)|` +
		`always (?:look on|nice|good|great|lovely|fun|happy|glad|a|the|been|had|wanted|loved|liked|thought|so|there|here|wear|in|remember that|remember when|is|was|did)) `)
	calledLater = regexp.MustCompile(`^ (?:please )?call me (?:when|if|later|tomorrow|tonight|today|back|asap|at|on|after|before|once|crazy|maybe|anytime|as|a|an|the|soon|now|in) `)
	pastForm    = regexp.MustCompile(`^ (?:always|never) \p{L}+ed `)
)

// commands reports whether an English sentence asks the bot to behave in some way.
func commands(ps []piece) bool {
	low := phrase(ps)
	return instructions.MatchString(low) && !noInstructions.MatchString(low) && !calledLater.MatchString(low) && !pastForm.MatchString(low)
}

// foreignInstructions are the forms of instructions in other languages, over a sentence in lower case. Where the
// imperative is a form of the third person too, something else must tell that the bot is meant.
var foreignInstructions = map[text.Language]*regexp.Regexp{
	"de": regexp.MustCompile(`^(?:bitte |ab jetzt |von nun an |in zukunft |künftig )*(?:(?:antworte|schreibe?|sprich|rede|benutze?|nutze|verwende|nenne? mich|(?:du|sie)ze|übersetze|erkläre?|vermeide|formuliere|halte dich)\b|` +
		`fasse? dich kurz|sag(?:e)? (?:immer|nie|du|sie) )`),
	"es": regexp.MustCompile(`^(?:por favor,? |a partir de ahora,? |desde ahora,? )*(?:(?:responde|contesta|escribe|habla|usa|explica|traduce)(?:me)? (?:siempre|solo|sólo|.*(?:tus respuestas|conmigo|por favor))|` +
		`no (?:uses|respond(?:as)|escribas|hables|me llames|repitas)\b|(?:llámame|tutéame|trátame|respóndeme|contéstame|háblame|evita)\b)`),
	"fr": regexp.MustCompile(`^(?:s'il te plaît,? |stp,? |désormais,? |à partir de maintenant,? |merci de )*(?:(?:réponds|répondez|répondre|écris|écrivez|utilise|utilisez|évite|évitez|parle-moi|explique|traduis|appelle-moi|tutoie-moi|vouvoie-moi)\b|` +
		`(?:n'utilise|n'écris|n'emploie|ne réponds|ne m'appelle|ne parle)(?:z)? )`),
}

// instructs reports whether a sentence in another language than English asks the bot to behave in some way.
func instructs(s string, lang text.Language) bool {
	form := foreignInstructions[lang]
	return form != nil && form.MatchString(strings.ToLower(straighten(s)))
}
