package rules

import (
	"regexp"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// wish finds requests of a language over a sentence in lower case.
type wish struct {
	forMe *regexp.Regexp // what asks for something for the speaker, now
	tells *regexp.Regexp // words by which the speaker tells something of themselves
}

func wishOf(forMe, tells string) wish {
	return wish{regexp.MustCompile(forMe), regexp.MustCompile(tells)}
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
}

// standing are the words by which a request holds from now on, or asks for a language.
var standing = regexp.MustCompile(`(?:^| )(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft|immer|nie|jedes mal|auf \pL+(?:sch|o)|` +
	`a partir de ahora|de ahora en adelante|siempre|nunca|désormais|dorénavant|toujours|jamais|` +
	`d'ora in poi|da ora in poi|sempre|mai|a partir de agora|de agora em diante|voortaan|vanaf nu|altijd|nooit|in het \pL+s|en (?:español|` +
	`inglés|français|anglais|castellano)|in (?:italiano|inglese)|em (?:português|inglês))(?:[ ,.!]|$)`)

// wishes reports whether a sentence in another language asks for something for its speaker, and whether it tells something
// of them.
func wishes(s string, lang text.Language) (asks, tells bool) {
	w, ok := foreignWishes[lang]
	if !ok {
		return false, false
	}
	low := strings.ToLower(straighten(s)) + " "
	return w.forMe.MatchString(low) && !standing.MatchString(low), w.tells.MatchString(low)
}
