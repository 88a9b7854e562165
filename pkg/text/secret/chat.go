package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// What people type in a chat: names without their accents or with a slip of the finger, no verb at all, the value in front
// of its name, a line of a terminal.
const (
	// typedNames has the names as they are typed in a hurry; misspelt is "pasword", "passwrod" and "Paswort".
	misspelt   = `\bpas{1,3}o?w[a-z]{0,3}[dt]s?`
	typedNames = `(?:` + misspelt + `|\b(?:pass(?:code|phrase|ord)|pwd|pw|psw|ww|kennwort|contrase[nñ]a|la contra|senha|palavra-passe|wachtwoord|l[oö]senord(?:et)?|heslo|parolam?|lozinka|has[lł]o|clave del wi-?fi|` +
		`mot de pas+e?|mdp|sifre(?:m|si|miz|niz)?)|пароль|şifre(?:m|si|miz|niz)?|密码|密碼|パスワード|비밀번호|암호)`

	// typedForm reads "haslo to kotek1987", "contrasena del netflix es gatito2021" and "the password for it would be q8Zk2mPw".
	typedForm = `(?i)(?:` + typedNames + `(?:\s*[:=]\s*|[ \t,][^.!?\n:=]{0,60}[:=][ \t]*|(?:[ \t]+[\p{L}\d'’-]+){0,8}?[ \t]+(?:is|are|be|ist|sind|wäre|es|est|serait|è|é|to|är|er|это|olarak)[ \t]+|\s*[—–][ \t]*|` +
		`[^.!?\n:=]{0,60}?[ \t]c['’]est[ \t]+|(?:[ \t]+[\p{L}\d'’-]+){0,5}\?[ \t]+(?:(?:it['’]?s|it is|c['’]est|es ist|ist|es|è|é|to)[ \t]+)?)|\bpass(?:[ \t]+(?:is|was)|[ \t]*[:=-])[ \t]+)` + looseValue
	// endForm has nothing between the name and a value that ends its clause but what the password is for.
	endForm = `(?i)` + typedNames + `((?:[ \t]+[\p{L}'’-]+){0,3}[ \t]+)["'\x60“„«]?([^\s"'\x60“”„«»‘’]*[\d!@#$%^&*_+][^\s"'\x60“”„«»‘’]*)`
	// digitsForm reads "senha 481516", and turnedForm "uses Mango-Lassi-42 as its password".
	digitsForm = `(?i)` + typedNames + `[ \t]+(\d{4,12})\b`
	turnedForm = `(?i)(?:^|[\s"'\x60“„«(])([^\s"'\x60“”„«»(]{6,100})["'\x60”»]?[ \t]+(?:as|als|como|comme|come|jako|как)[ \t]+(?:(?:the|my|our|its|their|his|her|your|a|das|mein|unser|la|mi|su|le|mon|son|o|a|minha|het|mijn|moje)[ \t]+)?` +
		`(?:[\p{L}-]+[ \t]+){0,2}?` + typedNames

	// signInForm reads "sign in as admin with x" and "log in with bob@example.org / x", shellForm what a terminal takes.
	signInForm = `(?i)\b(?:log|sign)[ -]?(?:in|on)[ \t]+(?:as|with|using)[ \t]+["'\x60]?[\p{L}\d._@+-]{2,64}["'\x60]?[ \t]*(?:[ \t](?:with|and)[ \t]|[/|,:])[ \t]*["'\x60]?([^\s"'\x60]{6,200})`
	shellForm  = `(?:\bcurl\b[^\n]{0,200}?\s(?:-u|--user)[ =]?["']?[^\s"':]{1,64}:|\bsshpass\s+-p\s*["']?|\s--(?:password|pass|passwd)[ =]["']?|\b(?:mysql|mysqldump|mariadb)\b[^\n]{0,100}?\s-p["']?)([^\s"']{3,200})`

	// wifiForm reads "le code wifi est x" and "the network is Barn, the wifi is down, the key is x".
	wifiForm = `(?i)(?:(?:code|cl[ée]|clave|chiave|chave|codice|c[óo]digo|klucz|kod|ключ)[ \t]+(?:(?:du|de la|de|del|della|do|da|от)[ \t]+)?(?:wi-?fi|wlan|вай-?фая)|` +
		`\b(?:wi-?fi|wlan|hotspot)\b[^.!?\n:=]{0,60}?\b(?:key|schlüssel|cl[ée]|clave|chiave|chave|sleutel|klucz)(?:\s+(?:is|ist|lautet|es|est|è|é|to)|\s*[:=])?)\s*(?:[:=]|(?:is|ist|lautet|es|est|è|é|to)\s)?\s*["'\x60“]?([^\s"'\x60“”]{6,64})`
	// recoveryForm reads "bitlocker recovery key K7Q2-M9XB-44TR", wordsForm "my 12 words: …".
	recoveryForm = `(?i)(?:recovery|wiederherstellungs|backup|r[ée]cup[ée]ration|recuperaci[óo]n|recupero)[ -]?(?:keys?|codes?|schlüssel)(?:\s*[:=]|\s+(?:is|was|ist|lautet))?\s+([a-z0-9]+(?:-[a-z0-9]+)+)`
	wordsForm    = `(?i)\b(?:12|18|24|twelve|eighteen|twenty-four|zwölf|douze|doce|dodici)[ \t]+(?:(?:secret|recovery|seed|magic|my)[ \t]+)?(?:words?|wörter|mots|palabras|parole)\s*(?:[:=]|(?:are|sind|sont|son|sono)\b:?)\s*` +
		`((?-i:[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){11,23}))\b`

	// foreignKeyForm reads keys and tokens of services by their names in other languages.
	foreignKeyForm = `(?i)(?:jeton(?: d['’]acc[èe]s)?|cl[ée] (?:d['’])?api|cl[ée] secr[èe]te|zugriffs(?:token|schlüssel)|geheimschlüssel|clave (?:de (?:la )?api|secreta)|token de acceso|chiave (?:api|segreta|dell['’]api)|` +
		`chave (?:da api|secreta)|klucz(?:a)? api|token dostępu|api anahtar[ıi]|(?:api|апи)[ -]?ключ|ключ (?:api|апи)|токен|api[ -]?キー|apikey|トークン|アクセスキー|api[ -]?密[钥鑰]|密[钥鑰]|秘[钥鑰]|令牌|访问令牌)` +
		`(?:\s*(?:是|は|:|：|=)\s*|\s+(?:is|ist|lautet|est|es|è|é|to|это)\s*:?\s+|\s*[—–-]\s+|\s+)["'\x60“]?([A-Za-z0-9_./+=~!@#$%^&*-]{8,300})`

	// smsForm reads codes that came by SMS, in the names that talk has for them.
	smsForm = `(?i)(?:код (?:из|по|в) (?:смс|sms)|(?:смс|sms)[- ]код|kod (?:z|ze|przez) sms(?:-?a|-?em)?|code (?:re[çc]u )?par sms|c[óo]digo (?:del|por|de) sms|codice (?:via|per|dell['’]) ?sms|sms[- ]?(?:code|kod|kode|kodu)|` +
		`code (?:aus|per|via) (?:der )?sms|doğrulama kod(?:u|um|unuz)|onay kod(?:u|um)|inlogcode|одноразовый (?:код|пароль)|kod jednorazowy|短信(?:验证)?码|動態密碼|动态码|ワンタイムパスワード)` +
		`(?:[ \t]+\p{L}+){0,3}?\s*(?:[:：=—–-]|是|は|\s(?:is|ist|est|es|è|é|to|это)\s)?\s*(\d{3}[ -]\d{3}|\d{4,8})\b`
	sentForm = `(?i)(?:` + oneTimeNames + `)(?:[ \t]+\p{L}+){1,5}\s*[:：=]\s*(\d{3}[ -]\d{3}\b|\d{4,8}\b)`

	// typedPINForm reads "gate pin 0442", "пин от карты 4821" and "security code 918".
	typedPINForm = `(?i)(?:\bpin(?:[ -]?(?:code|number|nummer|kod[eu]?))?|пин(?:-?код)?)(?:[ \t]+(?:of|for|to|de|del|della|du|do|da|dla|van|von|der|od|от|для|на|к)(?:[ \t]+\p{L}+){1,3}?|\?)?[ \t]+(\d{4,8})\b`
	cardCodeForm = `(?i)\b(?:security code|prüfziffer|kartenprüfnummer|cryptogramme|c[óo]digo de seguridad de la tarjeta)(?:\s*:|\s+(?:is|ist|est|es))?\s+(\d{3,4})\b`
)

var typedWords = []string{"pass", "pasw", "pwd", "pw", "psw", "ww ", "ww:", "kennwort", "contrase", "la contra", "senha", "wachtwoord", "lösenord", "losenord", "heslo", "parola", "lozinka", "hasło", "haslo", "clave del wi", "mdp",
	"mot de pas", "sifre", "şifre", "пароль", "密码", "密碼", "パスワード", "비밀번호", "암호"}

// compounds are what is called after passwords and is none: "password manager". What follows says nothing of a password.
var compounds = text.NewWordSet(`manager managers management policy policies reset resets field fields hash hashes hashing length generator vault app apps tool tools method
	strength protection protected rotation requirements rules hint prompt box form page screen dialog input column table file list attempts change changes expiry breach leak
	safe keeper storage database settings option options check checker validation validator cracking cracker spraying guessing less recovery`)

// before are words behind which a thing follows that a password is for, and articles between the two.
var (
	before = text.NewWordSet(`for of on in at with from by than since until after before about using via per and or vs like to für von bei mit auf im seit ab vom zum de du des pour sur
		dans depuis avec del para en desde con di per su da do na z od w van voor op sinds met от для на в с из и к till till`)
	articles = text.NewWordSet(`the my our your his her its their a an this that der die das dem den mein meine meinen unser le la les mon ma mes notre el los las mi mis il lo i gli mio mia
		o os as meu minha het mijn ons moje mój moja мой моя моё мою`)
	owners = text.NewWordSet(`user account server host device laptop phone db database model version build room windows release sprint ticket issue bug case step chapter day week page
		line konto benutzer gerät compte utilisateur cuenta usuario сервера пользователя аккаунта`)
	methods = text.NewWordSet(`base64 base32 sha256 sha512 sha384 sha1 md5 argon2 argon2id argon2i bcrypt scrypt pbkdf2 oauth2 utf8 utf-8 ipv4 ipv6 http2 http3 win32 win64 windows10 windows11 wpa2 wpa3 wpa2-psk
		aes128 aes256 aes-256 aes-128 rsa2048 rsa4096 ed25519 x25519 sha-256 sha-512 sha-1 v1 v2 v3 keepass2 keepassxc 1password`)
)

// typed accepts what no word and no name of a method is, and no date.
func typed(match, value, rest string) bool {
	trimmed := strings.ToLower(strings.TrimRight(value, ".,;:!?)"))
	return unword(match, value, rest) && !methods.Has(trimmed) && !dated(trimmed) && !compound(match, value)
}

// dated reports "2024-03-01", "3.5.2024" and versions.
func dated(s string) bool {
	return strings.Trim(s, "v0123456789.-/:") == "" && strings.ContainsAny(s, ".-/:")
}

// compound reports a head in which the name is the beginning of another thing's.
func compound(match, value string) bool {
	head := strings.ToLower(match[:strings.LastIndex(match, value)])
	for i, w := range strings.FieldsFunc(head, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		if i > 0 && compounds.Has(w) {
			return !strings.ContainsAny(head, "=")
		}
	}
	return false
}

// ending accepts typed values that end their clause and are not what the password is for: "password for iPhone15".
func ending(match, value, rest string) bool {
	trimmed := strings.TrimRight(value, ".,;:!?)")
	if !typed(match, value, rest) || trimmed == value && !clauseEnds(rest) || strings.ContainsAny(trimmed, ":/") || strings.Contains(trimmed, "@") && strings.Contains(trimmed, ".") {
		return false
	}
	between := strings.Fields(strings.ToLower(match[:strings.LastIndex(match, value)]))[1:]
	for i := len(between) - 1; i >= 0; i-- {
		switch w := between[i]; {
		case owners.Has(w):
			return false
		case articles.Has(w):
			continue
		case before.Has(w):
			return false
		}
		break
	}
	return plainlyTyped(trimmed)
}

// plainlyTyped accepts a value that nothing but its form tells from the name of a thing: a sign between letters and digits,
// four digits or more behind a word, or small letters with digits, eight or more.
func plainlyTyped(s string) bool {
	digits, upper := 0, false
	for _, r := range s {
		if unicode.IsDigit(r) {
			digits++
		}
		upper = upper || unicode.IsUpper(r)
	}
	switch {
	case digits == 0:
		return false
	case strings.ContainsAny(s, "!@#$%^&*_"), digits >= 4:
		return true
	}
	return !upper && !strings.Contains(s, "-") && len(s) >= 8
}

// clauseEnds reports that a clause ends where rest begins.
func clauseEnds(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\"'`”»)")
	return rest == "" || strings.ContainsAny(rest[:1], ".,;!?\n") || rest[0] >= 0xe2
}

// endingDigits accepts digits that end their clause and are no year.
func endingDigits(_, value, rest string) bool {
	return clauseEnds(rest) && (len(value) != 4 || value[:2] != "19" && value[:2] != "20")
}

// endingPIN accepts digits that end their clause.
func endingPIN(_, _, rest string) bool { return clauseEnds(rest) }

// turned accepts typed values before the name of a password, which is not that of a manager of them.
func turned(match, value, rest string) bool {
	at := strings.Index(match, value)
	next := strings.Fields(strings.ToLower(rest[len(match)-at-len(value):]))
	return (len(next) == 0 || !compounds.Has(strings.Trim(next[0], ".,;:!?)"))) && typed(value, value, "")
}

// grouped accepts groups of which two or more hold digits or all are capitals and digits, or that are three or more.
func grouped(_, value, _ string) bool {
	groups := strings.Split(value, "-")
	return len(groups) >= 3 && slices.ContainsFunc(groups, func(g string) bool { return strings.ContainsAny(g, "0123456789") })
}

// signed accepts what a sign or digits tell from words.
func signed(_, value, rest string) bool {
	return unword("", value, rest) && strings.ContainsAny(value, "0123456789")
}

// chatRules are tried last.
func chatRules() []rule {
	password := func(form string, group int, accept func(_, _, _ string) bool) rule {
		return rule{kind: "password", near: loosely, words: typedWords, holds: noWord, re: regexp.MustCompile(form), group: group, accept: accept}
	}
	digits := password(digitsForm, 1, endingDigits)
	digits.digits, digits.holds = 4, "0123456789"
	return []rule{
		password(typedForm, 1, typed),
		password(endForm, 2, ending),
		digits,
		password(turnedForm, 1, turned),
		{kind: "password", near: loosely, holds: noWord, words: []string{"log in", "login", "log-in", "log on", "logon", "sign in", "signin", "sign-in", "sign on"}, re: regexp.MustCompile(signInForm), group: 1, accept: signed},
		{kind: "password", words: []string{"curl", "sshpass", "--pass", "mysql", "mariadb"}, re: regexp.MustCompile(shellForm), group: 1},
		{kind: "password", near: loosely, digits: 1, holds: noWord, words: []string{"wifi", "wi-fi", "wlan", "hotspot", "вай"}, re: regexp.MustCompile(wifiForm), group: 1, accept: typed},
		{kind: "code", near: loosely, digits: 1, words: []string{"recovery", "wiederherstellung", "backup", "récup", "recup"}, re: regexp.MustCompile(recoveryForm), group: 1, accept: grouped},
		{kind: "private_key", words: []string{"words:", "words are", "words =", "wörter", "mots", "palabras", "parole"}, re: regexp.MustCompile(wordsForm), group: 1},
		{kind: "api_key", digits: 1, near: 2 * loosely, words: []string{"jeton", "clé", "cle ", "clave", "zugriffs", "geheimschlüssel", "chiave", "chave", "token", "klucz", "api anahtar", "ключ", "токен", "apiキー", "api キー", "api-キー", "アクセスキー", "apikey", "トークン", "密钥", "密鑰", "秘钥", "秘鑰", "令牌"},
			re: regexp.MustCompile(foreignKeyForm), group: 1, accept: mixed},
		{kind: "code", near: loosely, digits: 4, words: []string{"sms", "смс", "одноразов", "doğrulama kod", "onay kod", "kod jednorazowy", "inlogcode", "短信", "動態密碼", "动态码", "ワンタイム"}, holds: "0123456789", re: regexp.MustCompile(smsForm), group: 1},
		{kind: "code", near: loosely, digits: 4, holds: "0123456789", words: oneTimeWords, re: regexp.MustCompile(sentForm), group: 1},
		{kind: "pin", near: loosely, digits: 4, holds: "0123456789", words: []string{"pin ", "pin-", "pin?", "pinc", "пин"}, re: regexp.MustCompile(typedPINForm), group: 1, accept: endingPIN},
		{kind: "pin", near: loosely, digits: 3, words: []string{"security code", "prüf", "cryptogramme", "seguridad"}, re: regexp.MustCompile(cardCodeForm), group: 1},
	}
}
