package secret

import (
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// passwordForm reads "DB_PASSWORD=x", "password: x", "the password of the router is x" and "das Passwort lautet x".
const passwordForm = `(?i)(?:(?:\b|_)(?:pass(?:word|code|phrase|wd|wort|ord)s?|pwd?|psw|kennwort|contraseña|clave|mot de passe|mdp|senha|wachtwoord|lösenord|adgangskode|salasana|heslo|jelszó|parol[aă]|lozinka|kata sandi)` +
	`|wlan-?passwort|wifi-?passwort)(?:["'\x60]?\s*(?:[:=]|:=|=>|->)\s*|[^.!?\n:=[\]]{0,40}?\s+(?:is|was|to|ist|lautet|lauten|heißt|es|est|este|era|é|è|är|er|on|je|adalah)\s*:?\s+|(?:[ \t]+[\p{L}\d'’-]+){1,5}[ \t]*[:=][ \t]*)` +
	`["'\x60“„«]?([^\s"'\x60“”„«»]{3,200})`

// foreignPasswordForm does so for words that do not begin or end with an ASCII letter.
const foreignPasswordForm = `(?i)(?:密码|密碼|パスワード|暗証番号|비밀번호|암호|пароль|κωδικός|hasło|şifre(?:m|si)?|mật khẩu|รหัสผ่าน|كلمة السر|كلمة المرور|כלמת סיסמה|הסיסמה|סיסמה|पासवर्ड)` +
	`(?:\s*(?:是|は|는|은|คือ)\s*|[^.!?\n:=：[\]]{0,30}?(?:\s*[:=：]\s*|\s+(?:is|to|это|είναι|هي|היא|है|là)\s+))["'“«]?([^\s"'“”«»。、，]{3,200})`

var foreignPasswords = []string{"密码", "密碼", "パスワード", "暗証番号", "비밀번호", "암호", "пароль", "κωδικός", "hasło", "şifre", "mật khẩu", "รหัสผ่าน", "كلمة السر", "كلمة المرور", "סיסמה", "पासवर्ड"}

// otherVerbs are verbs of languages other than English behind which a plain word says what a password is like.
var otherVerbs = text.NewWordSet("ist es est este era é è är er on je adalah")

// adjoiningForm reads "密码12345678": a name without letters of the alphabet, and what is no word right behind it.
const adjoiningForm = `(?:密码|密碼|パスワード|暗証番号|비밀번호|암호|รหัสผ่าน)\s?([A-Za-z0-9!@#$%^&*_-]{6,64})`

// quotedForm reads a password of several words in quotation marks, phraseForm one of four words or more without them.
const (
	quotedForm = `(?i)(?:\b|_|-)(?:pass(?:word|code|phrase|wd|wort)?s?|pwd?|kennwort|contraseña|mot de passe|senha|wachtwoord|parola|пароль)` +
		`(?:\s*[:=]\s*|[^.!?\n:=[\]"“']{0,40}?\s+(?:is|was|ist|lautet|es|est|é|è)\s*:?\s+)["'“„«]([^"'“”„«»\n]{3,100})["'”“»]`
	phraseForm = `(?i)\bpass[ -]?phrase\s*(?:[:=]|\bis\b:?)\s*((?-i:[a-z]{3,12}(?:[ -][a-z]{3,12}){3,9}))\s*(?:[.!\n]|$)`
)

// seedForm reads the words that restore a wallet, backupForm codes for when a second factor is lost.
const (
	seedForm   = `(?i)(?:recovery|seed|mnemonic|backup|secret|wallet)[ -]?(?:phrase|words?|seed)\s*(?:[:=]|(?:is|are)\b:?)\s*((?-i:[a-z]{3,8}(?:[ ,]+[a-z]{3,8}){11,23}))\b`
	backupForm = `(?i)(?:backup|recovery|scratch|wiederherstellungs|notfall)[ -]?codes?\s*(?:[:=]|(?:is|are|ist|sind)\b:?)\s*([a-z0-9-]*\d[a-z0-9-]*(?:[ ,;]+[a-z0-9-]*\d[a-z0-9-]*)*)`
)

// networkForm reads "wpa key = x" and "the wifi code at mum's is x"; userForm "username bob password x".
const (
	networkForm = `(?i)\b(?:wi-?fi|wlan|wpa[23]?|hotspot)[ -]?(?:key|code|schlüssel|clé|clave|chave|chiave|sleutel)(?:\s*[:=]\s*|[^.!?\n:=[\]]{0,30}?\s+(?:is|ist|lautet|es|est|é|è)\s*:?\s+)["'\x60“]?([^\s"'\x60“”]{6,64})`
	userForm    = `(?i)\b(?:user(?:name)?|login|u)\s*[:=]?\s+["'\x60]?[\p{L}\d._@+-]{2,64}["'\x60]?[\s,;]+(?:and\s+)?(?:pass(?:word|wd)?|pwd?|p)\s*[:=]?\s+["'\x60]?([^\s"'\x60]{4,200})`
)

// stated accepts what no word is.
func stated(_, value, _ string) bool {
	return mixed("", strings.TrimRight(value, ".,;!?)"), "")
}

// passForm reads "wifi pass: x", "ssh-pass=x" and "DB_PASS is x". A mountain has a pass too: accept looks at what stands
// before it.
const passForm = `(?i)(?:\b[\p{L}\d]+[ _-]?|\b)pass(?:\s*(?:[:=]|:=|=>|->)\s*|\s+(?:is|was)\s+)["'\x60“]?([^\s"'\x60“”]{3,200})`

func pass(match, value, rest string) bool {
	head := strings.ToLower(match[:len(match)-len(value)])
	before, sign, _ := strings.Cut(head, "pass")
	if strings.Trim(sign, " \"'`“") == "=" {
		return true
	}
	if !holders.Has(strings.Trim(before, " _-")) {
		return mixed("", strings.TrimRight(value, ".,;!?)"), "") && strings.ContainsAny(sign, ":=>")
	}
	return password(match, value, rest)
}

// holders are what has a password that people call a pass.
var holders = text.NewWordSet(`wifi fi wlan ssh db database root admin login user router sudo ftp sftp vpn email mail mailbox account network hotspot guest smtp imap
	mysql postgres redis server host netflix spotify amazon google icloud`)

// loginForm reads "login bob / x" and "credentials: bob | x".
const loginForm = `(?i)\b(?:log-?ins?|credentials?|creds|users?(?:name)?|accounts?|accs?|accts?|zugang(?:sdaten)?|identifiants?|acceso|credenziali)(?:\s+(?:for|to|für|para|pour|per)(?:\s+[\p{L}\d.-]+){1,3})?` +
	`(?:\s+(?:is|are|ist|sind|es|est)\b|\s*[:=])?\s+["'\x60]?[\p{L}\d._@+-]{2,64}["'\x60]?\s+[/|]\s+["'\x60]?([^\s"'\x60]{4,200})`

// login accepts what no plain word is, and a plain word that ends the sentence and is none of those of a login page.
func login(match, value, rest string) bool {
	trimmed := strings.TrimRight(value, ".,;!?)")
	for _, w := range strings.FieldsFunc(strings.ToLower(match), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) {
		if pageWords.Has(w) {
			return false
		}
	}
	if strings.ContainsAny(trimmed, "0123456789!@#$%^&*_") {
		return true
	}
	return len(trimmed) >= 6 && (rest == "" || trimmed != value || rest[0] == '\n')
}

var pageWords = text.NewWordSet(`page screen signup sign-up sign register registration logout log-out password username email e-mail phone google facebook apple github button
	form flow url api session token security settings profile billing payment payments savings checking management creation roles role
	service services support error errors test tests story stories experience interface groups group permissions auth oauth sso`)

// oneTimeForm reads "your verification code is 123456", oneTimeBefore "123456 is your verification code". The code of a
// door or a booking is what people want kept.
const (
	oneTimeNames = `(?:verification|authentication|authenticator|one[- ]?time|single[- ]use|login|log-in|sign-?in|2fa|mfa|two[- ]factor|sms)[ -]?(?:code|passcode|password|pin)|` +
		`(?-i:\bOTP\b|\b(?:sms|SMS|push|photo|chip)?-?TAN\b|2FA)|bestätigungscode|einmal(?:code|passwort|kennwort)|verifizierungscode|sicherheitscode per sms|anmeldecode|code de vérification|` +
		`code à usage unique|código de verificaci[óo]n|código de verificação|codice di verifica|verificatiecode|verifieringskod|bekræftelseskode|kod weryfikacyjny|ověřovací kód|` +
		`doğrulama kodu|код подтверждения|код подтвержде́ния|код доступа из смс|κωδικός επαλήθευσης|验证码|驗證碼|認証コード|確認コード|인증번호|인증 코드|인증코드|رمز التحقق|קוד אימות`
	oneTimeForm = `(?i)(?:` + oneTimeNames + `)(?:\s+(?:for|from|von|für|de|di|da|от|dla|pro|they|you|he|she|we|it|i|that)(?:\s+[\p{L}\d.'-]{1,20}){1,3}?)?` +
		`\s*(?:[:：=]|是|は|은|는|\s(?:is|was|ist|lautet|es|est|è|é|er|är|to|on|это|είναι)\s*:?)?\s*(\b[A-Z]-\d{4,8}\b|\d{3}[ -]\d{3}\b|\d{4,8}\b)`
	oneTimeBefore = `(?i)\b((?:[A-Z]-)?(?:\d{3}[ -]\d{3}|\d{4,8}))\b(?:\s+(?:is|ist|es|est|è|é|as|als|como|comme|come)\s+(?:your|the|my|a|ihr|dein|mein|der|tu|su|votre|ton|le|il|tuo|o|seu)|\s+(?:是您的|是你的)|\s*[-–—:])[^\d\n.!?]{0,30}?(?:` + oneTimeNames + `)`
)

var oneTimeWords = []string{"code", "otp", "tan", "2fa", "mfa", "passwort", "kennwort", "password", "pin", "passcode", "código", "codice", "verifieringskod", "kode",
	"kod", "kód", "код", "κωδικός", "验证码", "驗證碼", "コード", "인증", "رمز", "קוד"}

// awsSecret accepts the form of an AWS secret access key: 40 letters, digits, slashes and plus signs without the runs of
// lower case that words and paths have.
func awsSecret(match, _, rest string) bool {
	if len(match) != 40 || strings.HasPrefix(rest, "=") {
		return false
	}
	lower, upper, digit, run, longest := 0, 0, 0, 0, 0
	for _, r := range match {
		run++
		switch {
		case unicode.IsLower(r):
			lower++
		case unicode.IsUpper(r):
			upper++
			run = 0
		default:
			run = 0
			if unicode.IsDigit(r) {
				digit++
			}
		}
		longest = max(longest, run)
	}
	return lower >= 5 && upper >= 5 && digit >= 1 && longest <= 6
}

// iban accepts an account number of a country that has such numbers, of its length, whose check digits are right.
func iban(match, _, _ string) bool {
	s := strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(match))
	i := strings.Index(ibanLengths, s[:2])
	if i < 0 || i%5 != 0 || len(s) != int(ibanLengths[i+2]-'0')*10+int(ibanLengths[i+3]-'0') {
		return false
	}
	rest := 0
	for _, r := range s[4:] + s[:4] {
		if r >= 'A' {
			rest = (rest*100 + int(r-'A') + 10) % 97
		} else {
			rest = (rest*10 + int(r-'0')) % 97
		}
	}
	return rest == 1
}

// ibanLengths are the lengths by country, as the registry of ISO 13616 has them.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 " +
	"GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 " +
	"PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"
