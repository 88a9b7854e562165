package rules

import (
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// An instruction is what asks the one spoken to, the bot, to behave in some way from now on. "Never mind", "don't worry"
// and "please come in" are none, nor is what people remind each other of.

// botVerbs are what a bot is asked to do: how it talks, and with which means it works.
const botVerbs = `(?:answer|repl|respond|writ|us|speak|talk|address|format|list|cit|quot|translat|summari[sz]|explain|suggest|recommend|ask|mention|includ|add|apologi[sz]|` +
	`assum|refer|greet|sign|start|end|begin|send|remind|prefer|avoid|correct|check|run|commit|deploy|test|show|round|convert|schedul|book|order)(?:e|y|ies|es|s|ing|ying|ting|ning)?`

// mannerVerbs are what "please" asks for of every answer; "please translate this" is a request for now.
const mannerVerbs = `(?:always |never |only )?(?:answer|reply|respond|use|speak|talk|address|format|cite|quote|mention|include|assume|refer|greet|sign|start|end|begin|prefer|avoid|round)`

var (
	// instructions are the forms of English instructions, over the lower-case words of a sentence between spaces.
	instructions = pattern.New(`^ (?:please )?(?:(?:from now on|in (?:the )?future|going forward) |(?:always|never) \p{L}+ |please ` + mannerVerbs + ` |(?:do not|don't|don't ever|only|stop|remember to|make sure to|` +
		`make sure you|be sure to|don't forget to|keep in mind to) (?:always |never |only )?` + botVerbs + ` |` +
		`keep (?:(?:your|the|all) )?(?:answers?|repl(?:y|ies)|responses?|messages?|texts?|tone|summaries) |be (?:brief|concise|short|polite|formal|informal|direct|honest|more|less) |` +
		`(?:answer|reply|respond) (?:\p{L}+ )*(?:in|with|only|briefly|always) |(?:use|speak|write) (?:only |always )?(?:\p{L}+ ){1,4}(?:with me|to me|in your|when you|from now on) |(?:use only|only use|stop using) |` +
		`call me [\p{L}'-]+ (?:from now on |please |instead |$)|(?:do not|don't|stop) (?:ever )?call(?:ing)? me (?:[\p{L}\d]+ ){1,3}$|you (?:can|may|could) (?:just |also )?call me [\p{L}'-]+ $|` +
		`(?:send|remind|tell|give|show|wake|call|text|email|ping|message|update|brief|notify|warn|alert) me (?:[\p{L}\d:.'-]+ )*?(?:every|each|daily|weekly|monthly|whenever|always|(?:on )?(?:` +
		`mon|tues|wednes|thurs|fri|satur|sun)days|(?:in the )?(?:mornings|evenings|afternoons)) |` +
		`(?:when|whenever|every time|each time|any time|anytime) (?:i|you|we) (?:[\p{L}\d'-]+ )+?(?:please |always |never |don't |do not )*(?:assume|use|answer|reply|respond|remind|add|include|ask|give|show|quote|tell|call|check|suggest|keep|skip) |` +
		`use (?:[\p{L}\d'-]+ ){1,3}(?:not|instead of|rather than) )`)
	// noInstructions begin as instructions do and are none.
	noInstructions = pattern.New(`^ (?:please )?(?:never (?:mind|say never|been|had|heard|knew|thought|felt|met|tried|seen|gets?|got|happened|again|fails|too|a|the|ever|too|in|been|know)|` +
		`always (?:look on|nice|good|great|lovely|fun|happy|glad|a|the|been|had|wanted|loved|liked|thought|so|there|here|wear|in|remember that|remember when|is|was|did)) `)
	calledLater = pattern.New(`^ (?:please )?call me (?:when|if|later|tomorrow|tonight|today|back|asap|at|on|after|before|once|crazy|maybe|anytime|as|a|an|the|soon|now|in) `)
	forNow      = pattern.New(`^ please \p{L}+ (?:me|us|this|that|it|these|those|him|her|them) `)
	pastForm    = pattern.New(`^ (?:always|never) \p{L}+ed `)
)

// requests are the forms of English questions that ask for something from now on: "Can you always answer briefly?" is one,
// "Can you always tell?" is none.
var requests = pattern.New(`^ (?:(?:please|pls|hey|hi|also|and|so|ok|okay) )*(?:(?:can|could|would|will) (?:you|u) (?:(?:please|pls|kindly|just|maybe|also) )*` +
	`(?:(?:always|never|only) (?:call|keep|be|give|` + botVerbs + `) |stop (?:` + botVerbs + `|calling|being|saying|giving|making|repeating) |(?:not |stop |call|keep|be|give|tell|` + botVerbs + `)(?: \p{L}[\p{L}'-]*)* ` + fromNowOn + ` )|` +
	`would (?:you|u) mind (?:(?:never|always) \p{L}+ing |(?:not )?\p{L}+ing (?:[\p{L}'-]+ )*` + fromNowOn + ` ))`)

const fromNowOn = `(?:always|from now on|going forward|from here on|in (?:the )?future|every time|each time|whenever)`

// commands reports whether an English sentence asks the bot to behave in some way.
func commands(ps []piece) bool {
	low := phrase(ps)
	if requests.MatchString(low) {
		return true
	}
	return instructions.MatchString(low) && !noInstructions.MatchString(low) && !calledLater.MatchString(low) && !forNow.MatchString(low) && !pastForm.MatchString(low)
}
