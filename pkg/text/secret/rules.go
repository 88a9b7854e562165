package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/eunoe-memory/eunoe/pkg/text"
)

// builtinRules returns the rules in the order in which they are tried. What an earlier rule replaced is safe from later
// ones.
func builtinRules() []rule {
	key := func(kind, pattern string, words ...string) rule {
		return rule{kind: kind, words: words, re: regexp.MustCompile(pattern)}
	}
	rules := slices.Concat([]rule{
		{kind: "private_key", words: []string{"private key"}, whole: true,
			re: regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`)},
		key("private_key", `\bAGE-SECRET-KEY-1[0-9A-Z]{20,}`, "age-secret-key-1"),
		{kind: "private_key", digits: 2, words: []string{"sa", "sn", "su", "so", "sc", "sx"}, within: runs(58, alnum), re: regexp.MustCompile(`\bS[ANUOCX][A-Z2-7]{56}\b`)},
		key("jwt", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "eyj"),
		key("api_key", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, "akia", "asia", "abia", "acca"),
		key("api_key", `\bsk-(?:[a-z0-9]+-)*[A-Za-z0-9_-]{20,}`, "sk-"),
		key("api_key", `\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}`, "_live_", "_test_"),
		key("api_key", `\bAIza[0-9A-Za-z_-]{35}`, "aiza"),
		key("api_key", `\bGOCSPX-[A-Za-z0-9_-]{20,}|\bya29\.[A-Za-z0-9_-]{20,}`, "gocspx-", "ya29."),
		key("api_key", `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, "sg."),
		key("api_key", `\b(?:gsk|r8|hf|nvapi|pplx|lsv2_pt|lsv2_sk|tvly|fw|csk)[_-][A-Za-z0-9_-]{20,}|\bxai-[A-Za-z0-9]{20,}`,
			"gsk_", "r8_", "hf_", "nvapi-", "pplx-", "lsv2_", "tvly-", "fw_", "csk-", "xai-"),
		{kind: "api_key", digits: 8, words: []string{"key-", "sk", "ac"}, within: runs(34, func(b byte) bool { return alnum(b) || b == '-' }),
			re: regexp.MustCompile(`\bkey-[0-9a-f]{32}\b|\b(?:SK|AC)[0-9a-f]{32}\b`)},
		key("token", `\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
		key("token", `\bgl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{20,}`, "glpat-", "glrt-", "gldt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"),
		key("token", `\bxox[a-z]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/[A-Za-z0-9/]{20,}`, "xox", "xapp-", "hooks.slack.com"),
		key("token", `\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|dckr_pat_[A-Za-z0-9_-]{20,}|rubygems_[0-9a-f]{40,})`, "npm_", "pypi-", "dckr_pat_", "rubygems_"),
		key("token", `\b(?:do[opr]_v1_[0-9a-f]{40,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|dapi[0-9a-f]{32}|hv[sb]\.[A-Za-z0-9_-]{20,}|ATATT3[A-Za-z0-9_=-]{20,}|whsec_[A-Za-z0-9+/=]{20,}|lin_api_[A-Za-z0-9]{20,}|ntn_[A-Za-z0-9]{20,}|secret_[A-Za-z0-9]{32,}|fly_?[A-Za-z0-9]*_?FlyV1[A-Za-z0-9 _,/+=-]{20,}|cfut_[A-Za-z0-9]{20,}|phc_[A-Za-z0-9]{20,}|sntrys_[A-Za-z0-9_=+/-]{20,})`,
			"_v1_", "shpat_", "shpca_", "shppa_", "shpss_", "dapi", "hvs.", "hvb.", "atatt3", "whsec_", "lin_api_", "ntn_", "secret_", "flyv1", "cfut_", "phc_", "sntrys_"),
		{kind: "token", words: []string{":aa"}, digits: 8, re: regexp.MustCompile(`\b\d{8,10}:AA[A-Za-z0-9_-]{32,33}`)},
		{kind: "token", digits: 4, words: []string{"."}, within: runs(58, func(b byte) bool { return alnum(b) || b == '_' || b == '-' || b == '.' }),
			re: regexp.MustCompile(`\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}\b`)},
		{kind: "token", words: []string{"bearer ", "basic "}, re: regexp.MustCompile(`(?i)\b(?:bearer|authorization:\s*basic)\s+([A-Za-z0-9._~+/-]{16,}=*)`), group: 1, accept: mixed},
		{kind: "password", words: []string{"://"}, re: regexp.MustCompile(`\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@]*:([^\s/@]{1,200})@`), group: 1},
		{kind: "password", words: []string{"accountkey=", "sharedaccesskey="}, re: regexp.MustCompile(`(?i)\b(?:accountkey|sharedaccesskey)=([A-Za-z0-9+/=]{20,})`), group: 1},
		{kind: "private_key", words: []string{"recovery", "seed", "mnemonic", "backup", "secret", "wallet"}, re: regexp.MustCompile(seedForm), group: 1},
		{kind: "code", words: []string{"code"}, digits: 2, re: regexp.MustCompile(backupForm), group: 1},
		{kind: "ssn", words: []string{"ssn", "social security"}, digits: 9, re: regexp.MustCompile(`(?i)\b(?:ssn|social security)\b\D{0,30}?\b(\d{3}-\d{2}-\d{4})\b`), group: 1},
		{kind: "password", words: []string{"pass", "pw", "kennwort", "contraseña", "senha", "wachtwoord", "parola", "пароль"}, holds: "\"'“„«", re: regexp.MustCompile(quotedForm), group: 1, accept: password},
		{kind: "password", words: []string{"pass"}, re: regexp.MustCompile(phraseForm), group: 1},
		{kind: "password", words: []string{"wifi", "wi-fi", "wlan", "wpa", "hotspot"}, re: regexp.MustCompile(networkForm), group: 1, accept: stated},
		{kind: "password", words: []string{"user", "login", "u:"}, re: regexp.MustCompile(userForm), group: 1, accept: stated},
		{kind: "password", words: foreignPasswords, digits: 1, re: regexp.MustCompile(adjoiningForm), group: 1},
		{kind: "password", words: []string{"pass", "pw", "psw", "kennwort", "contraseña", "clave", "mdp", "senha", "wachtwoord", "lösenord", "adgangskode", "salasana", "heslo", "jelszó", "parol", "lozinka", "kata sandi"},
			re: regexp.MustCompile(passwordForm), group: 1, accept: namedPassword},
		{kind: "password", words: foreignPasswords, re: regexp.MustCompile(foreignPasswordForm), group: 1, accept: password},
		{kind: "password", words: []string{"pass"}, re: regexp.MustCompile(passForm), group: 1, accept: pass},
		{kind: "password", words: []string{"login", "log-in", "creds", "credential", "user", "acc", "zugang", "identifiant", "acceso", "credenzial"},
			re: regexp.MustCompile(loginForm), group: 1, accept: login},
		{kind: "code", digits: 4, holds: "0123456789", words: oneTimeWords, re: regexp.MustCompile(oneTimeForm), group: 1},
		{kind: "code", digits: 4, words: oneTimeWords, holds: "0123456789", re: regexp.MustCompile(oneTimeBefore), group: 1},
		{kind: "pin", words: pinNames, digits: 3, re: regexp.MustCompile(pinForm), group: 1},
		{kind: "pin", words: pinNames, digits: 3, re: regexp.MustCompile(barePINForm), group: 1},
		{kind: "api_key", words: []string{"key", "token", "secret", "credential", "api"},
			re: regexp.MustCompile(`(?i)(?:api[ _-]?(?:key|schlüssel|sleutel)|cl[ée] api|clave api|chave (?:de |da )?api|access[ _-]?key(?:[ _-]?id)?|secret[ _-]?key|client[ _-]?secret|(?:access|auth|refresh|bot|api|bearer)?[ _-]?token|secret|credentials?)["'` + "`" + `]?(?:\s*(?:[:=]|:=|=>)\s*|\s+(?:is|was|ist|lautet|es|est|é|è)\s*:?\s+)["'` + "`" + `“]?([A-Za-z0-9_./+=~!@#$%^&*-]{8,300})`), group: 1, accept: mixed},
		{kind: "api_key", digits: 1, within: awsKeys,
			re: regexp.MustCompile(`[A-Za-z0-9/+]{40,}`), accept: awsSecret},
		{kind: "iban", digits: 9, within: ibans, re: regexp.MustCompile(`(?i)\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?\b`), accept: iban},
		{kind: "card", digits: 13, within: runs(13, func(b byte) bool { return b >= '0' && b <= '9' || b == ' ' || b == '-' }), re: regexp.MustCompile(`(?:\d[ -]?){12,18}\d`), accept: card},
	}, looseRules(), chatRules())
	for i := range rules {
		rules[i].prog = program(rules[i].re)
	}
	return rules
}

// mixed accepts a value that is no word: it holds a digit and a letter, or letters of both cases behind the first.
func mixed(_, value, _ string) bool {
	digit, lower, upper := false, false, false
	for i, r := range value {
		switch {
		case unicode.IsDigit(r):
			digit = true
		case unicode.IsLower(r):
			lower = true
		case unicode.IsUpper(r) && i > 0:
			upper = true
		}
	}
	return digit && (lower || upper) || lower && upper && len(value) >= 12
}

// password accepts what a sentence states as a password: anything behind a colon or an equals sign, anything that is no
// plain word, and a plain word only if the sentence ends with it.
func password(match, value, rest string) bool {
	trimmed := strings.TrimRight(value, ".,;!?)")
	word := strings.ToLower(trimmed)
	if ordinaryWords.Has(word) || len(word) < 3 || expression(value) || compound(match, value) || dated(word) || !western(value) || strings.HasSuffix(value, ":") {
		return false
	}
	head := match[:len(match)-len(value)]
	if strings.ContainsAny(head, ":=>`") && !strings.Contains(value, "/") {
		return true
	}
	if strings.HasSuffix(strings.TrimRight(head, " "), " to") { // "password to log in", but "set the password to x9!"
		return strings.ContainsAny(trimmed, "0123456789!@#$%^&*_")
	}
	if strings.IndexFunc(trimmed, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }) >= 0 {
		return true
	}
	if says := strings.Fields(strings.ToLower(head)); len(says) > 0 && otherVerbs.Has(says[len(says)-1]) {
		return false // "ist falsch", "es incorrecta": lists of such words end nowhere
	}
	rest = strings.TrimLeft(rest, "\"'`”")
	return trimmed != value || rest == "" || strings.ContainsAny(rest[:1], ".,;!?\n)")
}

// western rejects a few letters or digits within words of Chinese, Japanese or Korean: "8文字以上".
func western(value string) bool {
	i := strings.IndexFunc(value, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
	return i < 1 || i >= 4
}

// namedPassword is password for a match that may say what the password is for: "passwords: rotate them" and "the password
// for work: see the note" state none.
func namedPassword(match, value, rest string) bool {
	head := strings.ToLower(match[:len(match)-len(value)])
	name := strings.TrimRight(head, " :=>-\"'`“„«")
	alone := !strings.ContainsAny(strings.TrimPrefix(strings.TrimPrefix(name, "mot de "), "kata "), " \t")
	if strings.ContainsAny(head, ":=>") && !alone || strings.HasSuffix(name, "passwords") {
		return stated("", value, "") || strings.ContainsAny(strings.TrimRight(value, ".,;!?)"), "!@#$%^&*_")
	}
	return password(match, value, rest)
}

// expression reports whether a value is code that computes one: data.get(…), request.form[…].
func expression(value string) bool {
	i := strings.IndexAny(value, "([")
	return i > 2 && strings.IndexFunc(value[:i], func(r rune) bool { return r != '.' && r != '_' && !unicode.IsLetter(r) }) < 0
}

// ordinaryWords are what sentences say about passwords.
var ordinaryWords = text.NewWordSet(`wrong incorrect not too the that this stored saved kept expired weak strong required needed missing invalid
		reset changed set hidden safe same different secure correct right long short easy hard empty unknown lost forgotten compromised leaked
		hashed encrypted protected case-sensitive optional fine good bad old new being managed here there mine yours what how why gone enter
		login sign get use you your our their his her its none null nil true false string text field very really just still also always never
		please ask something someone anything only important enabled disabled working broken unique public private valid weird annoying it`)

// card accepts a number with the length and the prefix of a payment card that passes Luhn's check.
func card(match, _, rest string) bool {
	if rest != "" && (rest[0] >= '0' && rest[0] <= '9' || rest[0] == '_') {
		return false
	}
	var d []int
	for _, c := range match {
		if c >= '0' && c <= '9' {
			d = append(d, int(c-'0'))
		}
	}
	if !issued(d) {
		return false
	}
	sum := 0
	for i, v := range d {
		if (len(d)-i)%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}

// issued reports lengths and prefixes that card networks issue.
func issued(d []int) bool {
	n := len(d)
	two, four := d[0]*10+d[1], d[0]*1000+d[1]*100+d[2]*10+d[3]
	switch {
	case d[0] == 4:
		return n == 13 || n == 16 || n == 19
	case two == 34 || two == 37:
		return n == 15
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720, two == 35:
		return n == 16
	case two == 36 || two == 38 || two == 39 || two == 30:
		return n == 14 || n == 16
	case two == 60 || two == 62 || two == 64 || two == 65 || two == 50 || two == 56 || two == 58 || two == 63 || two == 67:
		return n >= 16 && n <= 19
	}
	return false
}
