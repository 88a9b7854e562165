package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// foreignInstructions are the forms of instructions in other languages, over a sentence in lower case. Where the
// imperative is a form of the third person too, something else must tell that the bot is meant.
var foreignInstructions = map[text.Language]*pattern.Pattern{
	"de": pattern.New(`^(?:bitte |ab jetzt |von nun an |in zukunft |künftig )*(?:(?:antworte|schreibe?|sprich|rede|benutze?|nutze|verwende|nenne? mich|(?:du|sie)ze|übersetze|erkläre?|vermeide|formuliere|halte dich)\b|` +
		`fasse? dich kurz|sag(?:e)? (?:immer|nie|du|sie) )`),
	"es": pattern.New(`^(?:por favor,? |a partir de ahora,? |desde ahora,? )*(?:(?:responde|contesta|escribe|habla|usa|explica|traduce)(?:me)? (?:siempre|solo|sólo|.*(?:tus respuestas|conmigo|por favor))|` +
		`no (?:uses|respond(?:as)|escribas|hables|me llames|repitas)\b|(?:llámame|tutéame|trátame|respóndeme|contéstame|háblame|evita)\b)`),
	"fr": pattern.New(`^(?:s'il te plaît,? |stp,? |désormais,? |à partir de maintenant,? |merci de )*(?:(?:réponds|répondez|répondre|écris|écrivez|utilise|utilisez|évite|évitez|parle-moi|explique|traduis|appelle-moi|tutoie-moi|vouvoie-moi)\b|` +
		`(?:n'utilise|n'écris|n'emploie|ne réponds|ne m'appelle|ne parle)(?:z)? )`),
	"it": pattern.New(`^(?:per favore,? |d'ora in poi,? |da ora in poi,? )*(?:(?:rispondi|scrivi|parla|usa|spiega|traduci)(?:mi)? (?:sempre|solo) |(?:dammi|diamoci) del |(?:chiamami|rispondimi) |non (?:usare|scrivere|rispondere|chiamarmi|darmi) )`),
	"pt": pattern.New(`^(?:por favor,? |a partir de agora,? |de agora em diante,? )*(?:(?:responda|responde|escreva|escreve|fala|fale|use|usa)(?:-me)? (?:sempre|só|comigo) |(?:chama-me|chame-me|me chame|me chama|trata-me) |não (?:uses|respondas|escrevas) )`),
	"nl": pattern.New(`^(?:alsjeblieft,? |vanaf nu |voortaan )*(?:(?:antwoord|schrijf|praat|gebruik) (?:altijd|voortaan|alleen|nooit|geen) |noem me )`),
	"sv": pattern.New(`^(?:snälla,? |från och med nu )*(?:(?:svara|skriv|prata|använd) (?:alltid|bara|aldrig|inte) |kalla mig )`),
	"pl": pattern.New(`^(?:proszę,? |od teraz )*(?:(?:odpowiadaj|pisz|mów)(?:cie)? (?:zawsze|tylko|do mnie|po) |nazywaj mnie |nie używaj )`),
	"ru": pattern.New(`^(?:пожалуйста,? |отныне |впредь )*(?:(?:отвечай|пиши|говори)(?:те)? (?:всегда|только|мне|со мной|на) |(?:называй|обращайся)(?:те)? |не (?:используй|называй)(?:те)? )`),
}

// request tells the questions of a language that ask the one spoken to for something from now on, over a sentence in lower
// case: "Kannst du immer kurz antworten?" is one, "Kannst du immer noch schwimmen?" is none.
type request struct {
	opens *pattern.Pattern // that the one spoken to is asked
	often *pattern.Pattern // from now on, always, never
	does  *pattern.Pattern // what a bot is asked to do
}

var foreignRequests = map[text.Language]request{
	"de": requestOf(`^(?:bitte,? |und )*(?:kannst|könntest|würdest|magst) du `, `ab jetzt|ab sofort|von nun an|in zukunft|künftig|nur noch| immer [^n]| immer n[^o]| nie `, `antwort|schreib|spr[ei]ch| red|benutz|nutz|verwend|nenn|duz|siez|übersetz|erklär|formulier|fass|zitier`),
	"es": requestOf(`^¿?(?:por favor,? )?(?:me )?(?:puedes|podrías|puede usted) `, `a partir de ahora|de ahora en adelante|en adelante|siempre(?: [^q]|\W*$)|nunca`, `respond|contest|escrib|habla| usar|explica|traduc|llama|tutear|tratar|resum`),
	"fr": requestOf(`^(?:est-ce que )?(?:peux-tu|tu peux|pourrais-tu|tu pourrais|pouvez-vous|pourriez-vous|vous pouvez|vous pourriez) `, `désormais|dorénavant|à partir de maintenant|à l'avenir|toujours|jamais`, `répond|écri|parler|utilis|expliqu|tradui|appeler|tutoy|vouvoy|résum`),
	"it": requestOf(`^(?:per favore,? )?(?:mi )?(?:puoi|potresti|può|potrebbe) `, `d'ora in poi|da ora in poi|in futuro|sempre|mai più`, `rispond|scriver|parlar| usare|spiegar|tradur|chiamar|darmi|riassum`),
	"pt": requestOf(`^(?:por favor,? )?(?:você )?(?:podes?|podias|poderia|poderias) `, `a partir de agora|de agora em diante|daqui em diante|sempre|nunca`, `respond|escrev|falar| usar|explicar|traduz|chamar|tratar|resum`),
	"nl": requestOf(`^(?:kun|kan|zou|wil) (?:je|jij|u) `, `voortaan|vanaf nu|in het vervolg|altijd|nooit`, `antwoord|schrijv|prat|spreken|gebruik|noem|uitleg|vertal|tutoy`),
	"sv": requestOf(`^(?:kan|kunde|skulle) du `, `från och med nu|hädanefter|i fortsättningen|alltid|aldrig`, `svara|skriv|prata|använd|kalla|förklara|översätt`),
	"pl": requestOf(`^(?:czy )?(?:możesz|mógłbyś|mogłabyś) `, `od teraz|odtąd|zawsze|nigdy`, `odpowiad|pisać|mówić|nazyw|używ|tłumacz|wyjaśni`),
	"ru": requestOf(`^(?:ты |вы )?(?:не )?(?:можешь|можете|мог бы|могла бы|могли бы) `, `впредь|отныне|с этого момента|больше не|всегда|никогда`, `отвеча|писать|говорить|называ|использ|объясн|перевод|обраща`),
	"tr": requestOf(``, `bundan sonra|bundan böyle|her zaman|asla|hep `, `cevap|yanıt|yaz|konuş|kullan|açıkla|çevir`),
	"zh": requestOf(`^(?:请|麻烦|你能|你可以|能不能|可不可以|可以|能|以后请|以后都|以后别|今后请|今后都|从现在)`, `以后|今后|从现在起|从现在开始|每次|总是|始终|一直`, `回答|回复|用.*(?:说|写)|叫我|称呼|解释|翻译|不要用|别用`),
	"ja": requestOf(`(?:て|で)(?:ください|下さい|もらえ|いただけ|くれ)`, `これから|今後|いつも|常に|毎回|二度と`, `答え|返事|話し|書い|使|呼ん|説明|訳し`),
	"ko": requestOf(`(?:해 ?줘|주세요|줄래|주실래요|하지 ?마)`, `앞으로|이제부터|항상|언제나`, `대답|답변|말해|써|사용|불러|설명|번역`),
}

// foreignManners are the ways to answer that hold from now on though no word says so: to be informal, shorter, in a language,
// or to stop something. To shorten or to translate a text is a task: "Kannst du das kürzer formulieren?"
var foreignManners = map[text.Language]*pattern.Pattern{
	"de": pattern.New(`\b(?:mich|uns) (?:bitte |einfach )*(?:duzen|siezen)|` +
		`(?:kürzer|knapper|ausführlicher|einfacher|langsamer|auf \S*(?:isch|deutsch)) (?:antworten|sprechen|reden)|(?:keine|weniger|ohne) emojis|\baufhören\b`),
	"es": pattern.New(`\btutear|(?:tratar|hablar)me de (?:tú|usted)|` +
		`(?:responder|contestar|hablar)(?:me)? (?:más \S+|en (?:\S+és|\S+án|\S+ñol|\S+ano|ruso|chino|sueco|turco|árabe))|sin emojis|menos emojis|\bdejar de `),
	"fr": pattern.New(`\b(?:me|nous) (?:tutoyer|vouvoyer)|(?:répondre|parler) (?:plus \S+|en (?:\S+ais|\S+ois|\S+and|\S+ien|\S+gnol|russe|arabe))|sans emojis?|` +
		`moins d'emojis|\barrêter (?:de |d')`),
	"it": pattern.New(`darmi del (?:tu|lei)|` +
		`(?:rispondere|rispondermi|parlare|parlarmi) (?:più \S+|in (?:\S+ese|\S+iano|\S+gnolo|\S+esco|russo|turco|arabo))|senza emoji|meno emoji|\bsmettere di |\bsmetterla di `),
	"pt": pattern.New(`\btratar(?:-me)? por |(?:responder|responder-me|falar) (?:mais \S+|em (?:\S+ês|\S+ano|\S+hol|alemão|russo|sueco|árabe))|sem emojis|` +
		`menos emojis|\b(?:parar|deixar) de `),
	"nl": pattern.New(`\b(?:korter|bondiger|simpeler|eenvoudiger|in het \S+s) (?:antwoorden|praten|schrijven)|zonder emoji|geen emoji|` +
		`minder emoji|\b(?:ophouden|stoppen) met |\btutoyeren`),
}

func requestOf(opens, often, does string) request {
	return request{pattern.New(opens), pattern.New(often), pattern.New(does)}
}

// is reports whether a sentence in lower case is such a request.
func (r request) is(low string) bool {
	return r.opens.MatchString(low) && r.often.MatchString(low) && r.does.MatchString(low)
}

// instructs reports whether a sentence in another language than English asks the bot to behave in some way.
func instructs(s string, lang text.Language) bool {
	low := strings.ToLower(straighten(s))
	if form := foreignInstructions[lang]; form != nil && form.MatchString(low) {
		return true
	}
	r, known := foreignRequests[lang]
	return known && (r.is(low) || setsManner(s, lang))
}

// setsManner reports whether a question asks the bot for another manner.
func setsManner(s string, lang text.Language) bool {
	manner, low := foreignManners[lang], strings.ToLower(straighten(s))
	return manner != nil && manner.MatchString(low) && foreignRequests[lang].opens.MatchString(low)
}
