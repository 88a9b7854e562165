package text

// IsStop reports whether a lower-case word carries no content of its own: articles, pronouns, prepositions, auxiliaries,
// question words and the fillers of chat, with their contractions, written with an apostrophe or without.
func IsStop(word string) bool { return stopWords[word]&skippedInText != 0 }

// IsFunctionWord reports whether ranking skips a lower-case word. It skips fewer words than IsStop: "like", "went" and
// "never" tell answers apart, and the weights of ranking were fitted with them. It reads words without apostrophes, so
// it also skips what is left of a contraction.
func IsFunctionWord(word string) bool { return stopWords[word]&skippedInRanking != 0 }

type stopKind uint8

const (
	skippedInText stopKind = 1 << iota
	skippedInRanking
)

// stopWords is the list of stop words, each with where it is skipped.
var stopWords = func() map[string]stopKind {
	m := make(map[string]stopKind, 512)
	for word := range functionWords {
		m[word] = skippedInText | skippedInRanking
	}
	for word := range chatWords {
		m[word] = skippedInText
	}
	for word := range contractionParts {
		m[word] = skippedInRanking
	}
	return m
}()

// functionWords are skipped everywhere.
var functionWords = NewWordSet(
	// Articles, determiners, pronouns.
	`a an the this that these those such some any each both all other i me my myself you your yours yourself yourselves
	 he him his himself she her hers herself it its itself we our ours ourselves they them their theirs themselves who
	 whom whose which what`,
	// Prepositions, conjunctions, particles.
	`of in on at by for with about against between into through during before after to from up down out off over under
	 again further then once here there where when why how and or but nor so if because as until while than`,
	// Auxiliaries and the commonest verbs.
	`am is are was were be been being have has had having do does did doing will would shall should can could may might
	 must`,
	// Negation and degree.
	`no not only own same too very just also much many more most few now`,
	// Chat.
	`im`,
	// The same as people type them.
	`ive id isnt dont doesnt didnt cant`,
	// What an apostrophe leaves when a tokenizer cuts at it.
	`s t d m ll re ve don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven hadn`,
)

// chatWords carry no content in facts and messages, and are terms of a question.
var chatWords = NewWordSet(
	// Articles, determiners, pronouns.
	`every either neither another others mine us one ones someone somebody something anyone anybody anything everyone
	 everybody everything nothing nobody none whatever whoever`,
	// Prepositions, conjunctions, particles.
	`among onto above below yet though although since without within upon via per toward towards across along around
	 behind beside besides beyond despite except near like unless whether`,
	// Auxiliaries and the commonest verbs.
	`done ought let get gets got getting gotten go goes going gone went come comes came make makes made`,
	// Negation and degree.
	`even still already ever never always often really quite rather almost less least several lot lots bit well`,
	// Chat.
	`yes yeah yep yup nope ok okay oh ah hey hi hello wow haha lol hmm um uh please thanks thank thx bye gonna wanna
	 gotta kinda sorta btw omg u ur`,
	// Contractions.
	`i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd we're we've we'll
	 we'd they're they've they'll they'd that's that'll that'd there's there'll here's who's who'll who'd what's what'll
	 what're where's when's why's how's how're let's isn't aren't wasn't weren't don't doesn't didn't won't wouldn't
	 shan't shouldn't can't cannot couldn't mayn't mightn't mustn't haven't hasn't hadn't ain't y'all should've would've
	 could've might've must've everyone's someone's everything's something's nothing's one's`,
	// The same as people type them.
	`ill youre youve youll youd hes shes itll weve theyre theyve theyll thats theres heres whos whats wheres whens whys
	 hows lets arent wasnt werent wont wouldnt shouldnt couldnt mustnt havent hasnt hadnt aint shouldve wouldve couldve`,
)

// contractionParts are what an index that cuts at apostrophes leaves of contractions, besides the function words.
var contractionParts = NewWordSet("o y ain ma mightn mustn needn shan")
