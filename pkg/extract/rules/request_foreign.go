package rules

import (
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// wish finds requests of a language over a sentence in lower case.
type wish struct {
	forMe *pattern.Pattern // what asks for something for the speaker, now
	tells *pattern.Pattern // words by which the speaker tells something of themselves
}

func wishOf(forMe, tells string) wish {
	return wish{pattern.New(forMe), pattern.New(tells)}
}

// foreignWishes are the forms of requests in other languages: "Schreib mir einen Brief", "Explícame la fotosíntesis".
var foreignWishes = map[text.Language]wish{
	"de": wishOf(`^(?:(?:bitte|und|dann|jetzt|mal|hey|ok),? )*(?:(?:kannst|könntest|würdest|magst|können|könnten|würden) (?:du|sie)|(?:schreib|`+
		`gib|zeig|erklär|sag|mach|such|find|hilf|schick|übersetz|erstell|nenn|empfiehl|erzähl|rechne|lies|bau|koch|stell|hol|besorg|erinner|weck|`+
		`buch|bestell)e? (?:mir|mich|uns)|`+
		`(?:schreib|übersetz|fass|erstell|such|vergleich|prüf|korrigier|kürz|buch|bestell)e? (?:bitte|mal|das|den|die|diesen|diese|dieses|einen|`+
		`eine|ein|meinen|meine|mein)) `, `(?:^|[^\pL])(?:ich|mein\pL*|wir|unser\pL*)(?:[^\pL]|$)`),
	"es": wishOf(`^(?:(?:por favor|y|ahora|entonces),? )*(?:(?:me )?(?:puedes|podrías|puede usted|podría)|escr[íi]beme|dame|mu[ée]strame|`+
		`expl[íi]came|dime|hazme|b[úu]scame|ay[úu]dame|env[íi]ame|m[áa]ndame|trad[úu]ceme|resume|traduce|cu[ée]ntame|recomi[ée]ndame|`+
		`ens[ée][ñn]ame|despi[ée]rtame|`+
		`recu[ée]rdame|res[ée]rvame|haz (?:un|una|el|la)|danos|dinos) ?`, `(?:^|[^\pL])(?:mis?|yo|estoy|soy|tengo|vivo|nuestr\pL+)(?:[^\pL]|$)`),
	"fr": wishOf(`^(?:(?:s'il te pla[iî]t|stp|s'il vous pla[iî]t|svp|et|maintenant|alors),? )*(?:(?:est-ce que )?(?:peux-tu|tu peux|`+
		`pourrais-tu|tu pourrais|pouvez-vous|pourriez-vous|vous pouvez|vous pourriez)|(?:écris|donne|montre|explique|dis|fais|cherche|trouve|aide|`+
		`envoie|traduis|résume|recommand[e]|conseille|raconte|rappelle|réveille|réserve)[sz]?-(?:moi|nous)|`+
		`(?:écrivez|donnez|montrez|expliquez|dites|faites|cherchez|trouvez|aidez|envoyez)-(?:moi|nous)|(?:traduis|traduisez|résume|résumez|`+
		`corrige|corrigez) (?:ce|cette|ces|le|la|les|mon|ma|mes)) `, `(?:^|[^\pL])(?:je|j'\pL*|mon|ma|mes|notre|nos)(?:[^\pL]|$)`),
	"it": wishOf(`^(?:(?:per favore|e|adesso|ora|allora),? )*(?:(?:mi )?(?:puoi|potresti|può|potrebbe)|scrivimi|dammi|mostrami|spiegami|dimmi|`+
		`fammi|cercami|trovami|aiutami|mandami|inviami|traducimi|raccontami|consigliami|ricordami|svegliami|prenotami|riassumi|traduci) `,
		`(?:^|[^\pL])(?:mi[oae]|miei|io|ho|sono|nostr\pL)(?:[^\pL]|$)`),
	"pt": wishOf(`^(?:(?:por favor|e|agora|então),? )*(?:(?:você )?(?:me )?(?:podes?|podias|poderias?|pode)|(?:escreve|escreva|dá|dê|mostra|`+
		`mostre|explica|explique|diz|diga|faz|faça|procura|procure|ajuda|ajude|envia|envie|manda|mande|traduz|traduza|conta|conte|recomenda|`+
		`recomende|lembra|lembre|acorda|acorde)-me|`+
		`me (?:escreve|escreva|dá|dê|mostra|mostre|explica|explique|diz|diga|faz|faça|ajuda|ajude|envia|envie|manda|mande|conta|conte|recomenda|`+
		`recomende|lembra|lembre|acorda|acorde)|(?:traduz|traduza|resume|resuma) (?:isto|isso|este|esta|esse|essa|o|a)) `,
		`(?:^|[^\pL])(?:meus?|minhas?|eu|nosso|nossa)(?:[^\pL]|$)`),
	"nl": wishOf(`^(?:(?:alsjeblieft|en|nu|dan),? )*(?:(?:kun|kan|wil|zou) (?:je|jij|u)|(?:schrijf|geef|toon|leg|zeg|maak|zoek|help|stuur|`+
		`vertaal|vertel|raad|herinner|wek|boek|laat) (?:me|mij|ons)|(?:schrijf|vertaal|zoek|vergelijk|controleer|boek) (?:een|het|de|dit|deze|mijn)) `,
		`(?:^|[^\pL])(?:ik|mijn|wij|we|onze|ons)(?:[^\pL]|$)`),
	"ru": wishOf(`^(?:(?:пожалуйста|и|теперь|а),? )*(?:напиши|дай|покажи|объясни|расскажи|найди|помоги|отправь|переведи|напомни|разбуди|забронируй|составь|`+
		`посоветуй|скажи|сделай|пришли)(?:те)? `, `(?:^|[^\pL])(?:я|у меня|мой|моя|моё|мои|моей|моего|моему|мы|наш\pL*)(?:[^\pL]|$)`),
	"pl": wishOf(`^(?:(?:proszę|i|teraz),? )*(?:napisz|daj|pokaż|wyjaśnij|powiedz|znajdź|pomóż|wyślij|przetłumacz|przypomnij|obudź|zarezerwuj|poleć|zrób)(?:cie)? `+
		`(?:mi|mnie|nam|proszę|ten|to|tę|ją) `, `(?:^|[^\pL])(?:ja|mam|jestem|mój|moja|moje|mojej|mojego|nasz\pL*)(?:[^\pL]|$)`),
	"sv": wishOf(`^(?:(?:snälla|och|nu),? )*(?:skriv|ge|visa|förklara|berätta|hitta|hjälp|skicka|översätt|påminn|väck|boka|rekommendera|gör) (?:mig|oss|ett|en|den|det|min|mitt) `,
		`(?:^|[^\pL])(?:jag|min|mitt|mina|vi|vår\pL*)(?:[^\pL]|$)`),
	"tr": wishOf(`^(?:lütfen )?bana .*(?:yaz|ver|göster|anlat|açıkla|söyle|bul|gönder|çevir|hatırlat|öner)(?:ın|in|un|ün|sana|sene|ır mısın|er misin|ir misin)?[ .!]+$`,
		`(?:^|[^\pL])(?:ben|benim|biz|bizim)(?:[^\pL]|$)`),
	"zh": wishOf(`^请?(?:帮我|给我|教我|告诉我|提醒我|替我|幫我|給我|教我|告訴我|提醒我|替我)`, `我`),
	"ja": wishOf(`(?:教えて|書いて|作って|見せて|探して|手伝って|送って|予約して|訳して|説明して|起こして|まとめて|調べて|翻訳して)(?:ください|下さい|くれ|ほしい|もらえますか|くれる|よ|ね)?[ 。.！!]*$`,
		`(?:私|僕|俺|うち)の`),
	"ko": wishOf(`(?:알려|보여|써|만들어|찾아|도와|보내|번역해|설명해|깨워|요약해|추천해|예약해) ?(?:줘|주세요|줄래|주라|줘요)[ .!]*$`, `(?:제|내|저의|나의|우리) `),
}

// standing are the words by which a request holds from now on, or asks for a language.
var standing = pattern.New(`(?:^| )(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft|immer|nie|jedes mal|auf \pL+(?:sch|o)|` +
	`a partir de ahora|de ahora en adelante|siempre|nunca|désormais|dorénavant|toujours|jamais|` +
	`d'ora in poi|da ora in poi|sempre|mai|a partir de agora|de agora em diante|voortaan|отныне|впредь|всегда|никогда|zawsze|nigdy|od teraz|alltid|aldrig|hep|her zaman|bundan sonra|vanaf nu|altijd|nooit|in het \pL+s|en (?:español|` +
	`inglés|français|anglais|castellano)|in (?:italiano|inglese)|em (?:português|inglês))(?:[ ,.!]|$)|以后|今后|总是|每次|これから|今後|いつも|毎回|앞으로|항상|언제나|매번`)

// wishes reports whether a sentence in another language asks for something for its speaker, and whether it tells something
// of them.
func wishes(s string, lang text.Language) (asks, tells bool) {
	w, ok := foreignWishes[lang]
	if !ok {
		return false, false
	}
	low := strings.ToLower(straighten(s)) + " "
	at := w.forMe.FindStringIndex(low)
	if at == nil || standing.MatchString(low) {
		return false, false
	}
	return true, w.tells.MatchString(low[:at[0]] + " " + low[at[1]:])
}
