package analysis

import "strings"

// isStop reports words that carry no content of their own: articles, pronouns,
// prepositions, auxiliaries, question words and the fillers of chat, with
// their contractions, written with an apostrophe or without.
func isStop(lower string) bool {
	_, ok := stopWords[lower]
	return ok
}

func set(lists ...string) map[string]struct{} {
	m := make(map[string]struct{})
	for _, l := range lists {
		for _, w := range strings.Fields(l) {
			m[w] = struct{}{}
		}
	}
	return m
}

var stopWords = set(
	// Articles, determiners, pronouns.
	`a an the this that these those such some any each every either neither both all another other others
	 i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
	 we us our ours ourselves they them their theirs themselves one ones someone somebody something anyone anybody
	 anything everyone everybody everything nothing nobody none who whom whose which what whatever whoever`,
	// Prepositions, conjunctions, particles.
	`of in on at by for with about against between among into onto through during before after above below to from
	 up down out off over under again further then once here there where when why how and or but nor so yet if because
	 as until while than though although since without within upon via per toward towards across along around behind
	 beside besides beyond despite except near like unless whether`,
	// Auxiliaries and the commonest verbs.
	`am is are was were be been being have has had having do does did doing done will would shall should can could may
	 might must ought let get gets got getting gotten go goes going gone went come comes came make makes made`,
	// Negation and degree.
	`no not only own same too very just also even still already ever never always often really quite rather almost
	 much many more most less least few several lot lots bit well now`,
	// Chat.
	`yes yeah yep yup nope ok okay oh ah hey hi hello wow haha lol hmm um uh please thanks thank thx bye gonna wanna
	 gotta kinda sorta btw omg u ur im`,
	// Contractions.
	`i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd we're we've we'll
	 we'd they're they've they'll they'd that's that'll that'd there's there'll here's who's who'll who'd what's what'll
	 what're where's when's why's how's how're let's isn't aren't wasn't weren't don't doesn't didn't won't wouldn't
	 shan't shouldn't can't cannot couldn't mayn't mightn't mustn't haven't hasn't hadn't ain't y'all should've
	 would've could've might've must've everyone's someone's everything's something's nothing's one's`,
	// The same as people type them.
	`ive ill id youre youve youll youd hes shes itll weve theyre theyve theyll thats theres heres whos whats wheres
	 whens whys hows lets isnt arent wasnt werent dont doesnt didnt wont wouldnt shouldnt cant couldnt mustnt havent
	 hasnt hadnt aint shouldve wouldve couldve`,
	// What an apostrophe leaves when a tokenizer cuts at it.
	`s t d m ll re ve don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven hadn`,
)
