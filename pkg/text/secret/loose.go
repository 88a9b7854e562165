package secret

import (
	"regexp"
	"strings"
	"unicode"
)

// What people type in a hurry names a password without saying that it is one: "pw → x", "password's x", "le mdp c'est x",
// "x is the password". Only a value that no word is counts there.
const (
	passwordNames = `(?:pass(?:word|code|phrase|wd|wort)|pwd|kennwort|contraseña|mot de passe|mdp|senha|wachtwoord|lösenord(?:et)?|heslo|parola|lozinka|hasło|пароль|şifre(?:m|si)?|密码|密碼|パスワード|비밀번호)`
	looseValue    = `["'\x60“„«‘]?([^\s"'\x60“”„«»‘’]{6,100})`

	// linkedForm has a sign or a word between the name and the value, bareForm nothing, reversedForm the value in front.
	linkedForm = `(?i)` + passwordNames + `(?:['’]s\s+|\s*\([^()\n]{1,30}\)\s*[:=-]?\s*|\s+[-–—]\s+|(?:[ \t]+[\p{L}\d'’-]+){0,4}\s*(?:->|=>|→)\s*|(?:[ \t]+[\p{L}'’-]+){0,4},?[ \t]+c['’]est[ \t]+` +
		`|[ \t]+as[ \t]+|,?[ \t]+(?:(?:is|was|ist|est|es|é|è|är)[ \t]+)?(?:now|jetzt|nun|maintenant|ahora|agora|ora|nu|теперь)[ \t]+|[ \t]*(?:改成了?|换成了?|改为)[ \t]*)` + looseValue
	bareForm     = `(?i)` + passwordNames + `[ \t]+` + looseValue
	reversedForm = `(?i)(?:^|[\s"'\x60“„«(])([^\s"'\x60“”„«»(]{6,100})["'\x60”»]?[ \t]+(?:is|ist|es|est|è|é)[ \t]+(?:the|my|our|das|mein|unser|la|mi|le|mon|o|a|minha)[ \t]+(?:[\p{L}-]+[ \t]+){0,2}?` + passwordNames
)

var looseNames = []string{"pass", "pwd", "kennwort", "contraseña", "mdp", "senha", "wachtwoord", "lösenord", "heslo", "parola", "lozinka", "hasło", "пароль", "şifre",
	"密码", "密碼", "パスワード", "비밀번호"}

// noWord are the bytes of which unword demands one.
const noWord = signs + "0123456789"

// signs are what stands in passwords and not in words or names.
const signs = "!@#$%^&*_+"

// unword accepts a value with a small letter and a digit, or with a letter and a sign: SHA256 is the name of a method.
func unword(_, value, _ string) bool {
	trimmed := strings.TrimRight(value, ".,;:!?)")
	if len(trimmed) < 6 || strings.ContainsAny(trimmed, "/=") || expression(value) {
		return false
	}
	return strings.ContainsFunc(trimmed, unicode.IsLetter) && strings.ContainsAny(trimmed, signs) ||
		strings.ContainsFunc(trimmed, unicode.IsLower) && strings.ContainsAny(trimmed, "0123456789")
}

// unwordAlone is unword where nothing but the name says what the value is: "password SHA256" names a method.
func unwordAlone(match, value, rest string) bool {
	return unword(match, value, rest) && strings.ContainsAny(value, "0123456789") && strings.ContainsAny(value, signs)
}

// pinForm reads the number of a card: "my PIN is 4711", "il PIN del bancomat è 4711", "cvv 123".
const (
	pinForm = `(?i)(?:\b(?:pin(?:[ -]?(?:code|number|kod[e]?|zahl))?|cvv2?|cvc|geheimzahl|code (?:secret|(?:de|of) (?:ma|la|my) (?:carte|cb|card)(?: bleue| bancaire)?))\b|пин(?:-?код)?)` +
		`[^.!?\n\d]{0,24}?(?:\s(?:is|was|ist|war|lautet|es|era|est|était|è|é|e|to|är|er|c['’]est)\s(?:(?:always|still|now|immer|noch|jetzt|toujours|maintenant|siempre|ahora|sempre|ora|agora)\s)?|['’]s\s|[:=])\s*(\d{3,8})\b`
	barePINForm = `(?i)(?:\b(?:cvv2?|cvc)|пин-?код(?:\s+\p{L}+)?)\s+(\d{3,8})\b`
)

var pinNames = []string{"pin", "cvv", "cvc", "geheimzahl", "code", "пин"}

// loosely is how many bytes before and behind a name the loose forms read.
const loosely = 160

// looseRules are tried behind those that read whole sentences.
func looseRules() []rule {
	return []rule{
		{kind: "password", near: loosely, words: looseNames, holds: noWord, re: regexp.MustCompile(linkedForm), group: 1, accept: unword},
		{kind: "password", near: loosely, words: looseNames, holds: signs, digits: 1, re: regexp.MustCompile(bareForm), group: 1, accept: unwordAlone},
		{kind: "password", near: loosely, words: looseNames, holds: noWord, re: regexp.MustCompile(reversedForm), group: 1, accept: unword},
	}
}
