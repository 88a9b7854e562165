package text

import "strings"

func languageSet(codes string) uint32 {
	var set uint32
	for c := range strings.FieldsSeq(codes) {
		set |= 1 << languageIndex[Language(c)]
	}
	return set
}

var romance = languageSet("fr it ca")

// english are words with diacritics that English has taken over.
var english = NewWordSet(`café cafés naïve résumé résumés fiancé fiancée cliché clichés décor déjà façade jalapeño jalapeños piñata crème brûlée
	entrée entrées exposé matinée protégé risqué sauté sautéed soufflé über touché voilà à vis-à-vis né née pâté rosé smörgåsbord
	señor señora açaí acai gruyère mojito crêpe crêpes purée papier-mâché doppelgänger`)

// letters tell languages apart that share words.
var letters = []struct {
	letters string
	set     uint32
}{
	{"ß", languageSet("de")}, {"ä", languageSet("de sv fi et")}, {"ö", languageSet("de sv fi hu tr et")}, {"ü", languageSet("de tr hu et")},
	{"ñ", languageSet("es")}, {"ãõ", languageSet("pt")}, {"êâô", languageSet("pt fr")}, {"ç", languageSet("fr pt ca tr")}, {"œû", languageSet("fr")},
	{"è", languageSet("fr it ca")}, {"ì", languageSet("it")}, {"ù", languageSet("it fr")}, {"ò", languageSet("it ca")}, {"à", languageSet("fr it pt ca")}, {"·", languageSet("ca")},
	{"å", languageSet("sv da nb")}, {"æø", languageSet("da nb")}, {"þð", languageSet("is")}, {"ăâîșțşţ", languageSet("ro")},
	{"ąęłńśźż", languageSet("pl")}, {"řěů", languageSet("cs")}, {"ľĺŕôäň", languageSet("sk")}, {"čšž", languageSet("cs sk hr sl lt lv")}, {"ýď", languageSet("cs sk")},
	{"đć", languageSet("hr")}, {"őű", languageSet("hu")}, {"ğışİ", languageSet("tr")}, {"ėįųū", languageSet("lt")}, {"āēīķļņģ", languageSet("lv")},
	{"õ", languageSet("et pt")}, {"ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ", languageSet("vi")},
	{"áíóú", languageSet("es pt cs sk hu is ga")}, {"é", languageSet("es pt fr it cs hu")},
}
