package secret_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// x makes a run of n letters and digits, so that no key stands in this file.
func x(n int) string { return strings.Repeat("aB3dE6gH", n/8+1)[:n] }

// redactions are texts with what becomes of them; want is "" where nothing is redacted.
func redactions() []redaction {
	return []redaction{
		{"an AWS key id", "use AKIA" + strings.ToUpper(x(16)) + " here", "use [redacted:api_key] here"},
		{"an OpenAI project key", "sk-proj-" + x(48), "[redacted:api_key]"},
		{"an Anthropic key", "key sk-ant-api03-" + x(60) + "!", "key [redacted:api_key]!"},
		{"a Google key", "AIza" + x(35), "[redacted:api_key]"},
		{"a Stripe key", "sk_live_" + x(24), "[redacted:api_key]"},
		{"a SendGrid key", "SG." + x(22) + "." + x(43), "[redacted:api_key]"},
		{"a Hugging Face key", "hf_" + x(34), "[redacted:api_key]"},
		{"a GitHub token", "ghp_" + x(36), "[redacted:token]"},
		{"a fine-grained GitHub token", "github_pat_" + x(82), "[redacted:token]"},
		{"a GitLab token", "glpat-" + x(20), "[redacted:token]"},
		{"a Slack token", "xoxb-123456789012-" + x(24), "[redacted:token]"},
		{"an npm token", "npm_" + x(36), "[redacted:token]"},
		{"a Telegram token", "123456789:AA" + x(33), "[redacted:token]"},
		{"a JWT", "eyJ" + x(20) + ".eyJ" + x(40) + "." + x(43), "[redacted:jwt]"},
		{"a bearer token", "Authorization: Bearer " + x(32), "Authorization: Bearer [redacted:token]"},
		{"a NATS seed", "SUA" + strings.Repeat("ABCDE234", 8)[:55], "[redacted:private_key]"},
		{"a private key", "a\n-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----\nb", "a\n[redacted:private_key]\nb"},
		{"a private key cut short", "-----BEGIN PRIVATE KEY-----\nabc", "[redacted:private_key]"},
		{"a password in a URL", "postgres://bob:hunter2@db:5432/x", "postgres://bob:[redacted:password]@db:5432/x"},
		{"a password a sentence states", "My password is hunter2.", "My password is [redacted:password]"},
		{"a password that is a word", "the wifi password is swordfish", "the wifi password is [redacted:password]"},
		{"a password of somewhere", "The password for the router is Tr0ub4dor&3 by the way", "The password for the router is [redacted:password] by the way"},
		{"a password behind a colon", "Password: correcthorse ok", "Password: [redacted:password] ok"},
		{"a password in a setting", `DB_PASSWORD="s3cr3t"`, `DB_PASSWORD="[redacted:password]"`},
		{"a password in Chinese", "我的密码是abc12345", "我的密码是[redacted:password]"},
		{"a PIN", "My PIN is 4711, remember it", "My PIN is [redacted:pin], remember it"},
		{"an API key a sentence states", "my api key is " + x(24), "my api key is [redacted:api_key]"},
		{"a token in a setting", "ACCESS_TOKEN=" + x(24), "ACCESS_TOKEN=[redacted:api_key]"},
		{"a card with spaces", "card 4111 1111 1111 1111 exp 12/30", "card [redacted:card] exp 12/30"},
		{"a card with hyphens", "5500-0000-0000-0004", "[redacted:card]"},
		{"an Amex card", "378282246310005", "[redacted:card]"},
		{"two secrets", "sk-proj-" + x(48) + " and 4111111111111111", "[redacted:api_key] and [redacted:card]"},

		{"the pass of a wifi", "wifi pass: sunflower", "wifi pass: [redacted:password]"},
		{"a pass in a setting", "ssh-pass=q1w2e3", "ssh-pass=[redacted:password]"},
		{"a pass of the database", "DB_PASS: kiwi77", "DB_PASS: [redacted:password]"},
		{"a login", "login bob / hunter22", "login bob / [redacted:password]"},
		{"a login that is a word", "The login for the shop is anna / butterfly", "The login for the shop is anna / [redacted:password]"},
		{"credentials", "creds: admin | Xy77!q", "creds: admin | [redacted:password]"},
		{"a password in German", "Das Passwort lautet Sonnenblume.", "Das Passwort lautet [redacted:password]"},
		{"a password of the router in German", "Das WLAN-Passwort von Oma ist Hase99", "Das WLAN-Passwort von Oma ist [redacted:password]"},
		{"a password in Spanish", "La contraseña del wifi es gato123", "La contraseña del wifi es [redacted:password]"},
		{"a password in French", "Le mot de passe : Lune42", "Le mot de passe : [redacted:password]"},
		{"a password in Russian", "Пароль от вайфая: zima2020", "Пароль от вайфая: [redacted:password]"},
		{"a password in Japanese", "パスワードはneko1234です", "パスワードは[redacted:password]"},
		{"a bare AWS secret", "use aB3dE6gH/kLmN7pQ+sTuV9xYzA1bC2dE4fG5hJ8k now", "use [redacted:api_key] now"},
		{"an IBAN", "My IBAN is DE89 3704 0044 0532 0130 00.", "My IBAN is [redacted:iban]"},
		{"an IBAN without spaces", "pay to GB82WEST12345698765432 please", "pay to [redacted:iban] please"},
		{"a one-time code", "Your verification code is 482913. Do not share it.", "Your verification code is [redacted:code]. Do not share it."},
		{"a one-time code in front", "G-482913 is your Google verification code", "[redacted:code] is your Google verification code"},
		{"a one-time code with a space", "OTP: 482 913", "OTP: [redacted:code]"},
		{"a one-time code in German", "Ihr Bestätigungscode lautet 4829", "Ihr Bestätigungscode lautet [redacted:code]"},
		{"a one-time code in Chinese", "您的验证码是482913", "您的验证码是[redacted:code]"},

		{"a password of something behind a colon", "passwd for root: x9!kQ2", "passwd for root: [redacted:password]"},
		{"a password of the wifi in French", "mot de passe du wifi : ChatNoir42", "mot de passe du wifi : [redacted:password]"},
		{"a short form", "pw is tr0ub4dor&3", "pw is [redacted:password]"},
		{"another short form", "psw: Gatto123!", "psw: [redacted:password]"},
		{"a password in Italian", "la password è Napoli99!", "la password è [redacted:password]"},
		{"a password in Romanian", "parola mea este Ursul2020", "parola mea este [redacted:password]"},
		{"a password in Serbian", "lozinka je Beograd1!", "lozinka je [redacted:password]"},
		{"a password in Vietnamese", "Mật khẩu wifi là conmeo123", "Mật khẩu wifi là [redacted:password]"},
		{"a password in Indonesian", "kata sandi: rahasia77", "kata sandi: [redacted:password]"},
		{"a password in Thai", "รหัสผ่าน: somchai99", "รหัสผ่าน: [redacted:password]"},
		{"another word in Arabic", "كلمة السر: qamar555", "كلمة السر: [redacted:password]"},
		{"a password right behind its name", "wifi密码12345678", "wifi密码[redacted:password]"},
		{"a password of several words", `the password to my laptop is "blue horse staple"`, `the password to my laptop is "[redacted:password]"`},
		{"a quoted pass with a space", "ssh-pass='Gr33n Tea'", "ssh-pass='[redacted:password]'"},
		{"a passphrase", "Passphrase: correct horse battery staple", "Passphrase: [redacted:password]"},
		{"a user and a password", "username bob password hunter2", "username bob password [redacted:password]"},
		{"a user and a password by letters", "u: bob p: hunter2!!", "u: bob p: [redacted:password]"},
		{"a key of the wifi", "wpa key = hunter2hunter2", "wpa key = [redacted:password]"},
		{"a key of the wifi in German", "WLAN-Schlüssel: 7Hg2-kkPq-99zx", "WLAN-Schlüssel: [redacted:password]"},
		{"a code of the wifi", "the wifi code at mum's is Sunflower-88-lane", "the wifi code at mum's is [redacted:password]"},
		{"a PIN in German", "Meine PIN ist 7731", "Meine PIN ist [redacted:pin]"},
		{"a PIN in French", "mon code pin est 9921", "mon code pin est [redacted:pin]"},
		{"a one-time code that was sent", "the 2FA code they sent is 482 913", "the 2FA code they sent is [redacted:code]"},
		{"an API key in German", "der API-Schlüssel lautet 9f8e7d6c5b4a39281706fedc", "der API-Schlüssel lautet [redacted:api_key]"},
		{"a seed phrase", "recovery phrase: witch collapse practice feed shame open despair creek road again ice least", "recovery phrase: [redacted:private_key]"},
		{"the words of a wallet", "my seed words are abandon ability able about above absent absorb abstract absurd abuse access accident", "my seed words are [redacted:private_key]"},
		{"backup codes", "backup codes: 8f3k-22kd, 9dk2-11mm", "backup codes: [redacted:code]"},
		{"a social security number", "my social security number is 078-05-1120", "my social security number is [redacted:ssn]"},

		{"a password without a verb", "netflix: marlo@x.org with password Tulip!2024", "netflix: marlo@x.org with password [redacted:password]"},
		{"a password whose place stands in brackets", "new wifi password (guest): greenTurtle55", "new wifi password (guest): [redacted:password]"},
		{"a password behind an apostrophe", "password's hunter2", "password's [redacted:password]"},
		{"a password behind a dash", "PASSWORD - hunter22", "PASSWORD - [redacted:password]"},
		{"a password behind an arrow", "pwd → Tulpe2024!", "pwd → [redacted:password]"},
		{"a password behind an arrow in Spanish", "contraseña del router -> Casa1234!", "contraseña del router -> [redacted:password]"},
		{"a password that is new", "my password is now hunter2!", "my password is now [redacted:password]"},
		{"a password that was set", "I set the password as Welcome#77", "I set the password as [redacted:password]"},
		{"a password that is new in German", "mein Kennwort ist jetzt Mohn77kuchen", "mein Kennwort ist jetzt [redacted:password]"},
		{"a password in French talk", "le mdp du wifi c'est ChatBleu42", "le mdp du wifi c'est [redacted:password]"},
		{"a password in Russian without a sign", "мой пароль zima2020!", "мой пароль [redacted:password]"},
		{"a password that was changed in Chinese", "我的密码改成了abc12345", "我的密码改成了[redacted:password]"},
		{"a password in Turkish", "şifrem Kedi2024!", "şifrem [redacted:password]"},
		{"a password in front", "hunter22 is the password", "[redacted:password] is the password"},
		{"a PIN in Portuguese", "o PIN do cartão é 4471", "o PIN do cartão é [redacted:pin]"},
		{"a PIN in Italian", "il PIN del bancomat è 4471", "il PIN del bancomat è [redacted:pin]"},
		{"a PIN in Polish", "mój PIN to 4471", "mój PIN to [redacted:pin]"},
		{"a PIN in Swedish", "min pinkod är 4471", "min pinkod är [redacted:pin]"},
		{"a PIN in Russian", "пин-код карты 4471", "пин-код карты [redacted:pin]"},
		{"a PIN with another name", "Meine Geheimzahl ist 9021", "Meine Geheimzahl ist [redacted:pin]"},
		{"the code of a card", "le code de ma carte bleue est 4417", "le code de ma carte bleue est [redacted:pin]"},
		{"the number on the back of a card", "exp 08/27 cvv 123", "exp 08/27 cvv [redacted:pin]"},

		{"how passwords are kept", "We store the password as SHA256 hashes", ""},
		{"a password and a version", "The password - since version 2 - has no limit", ""},
		{"a password method", "Use password OAuth2 or base64", ""},
		{"what is said of a password in French", "Le mot de passe, c'est compliqué", ""},
		{"what a password now is", "The password is now encrypted", ""},
		{"a thing that is the passphrase", "Nonsense is the password policy", ""},
		{"a pin that is no number of a card", "Il PIN e le 4 cifre dopo", ""},
		{"code of a repository", "The code of my module is 4000 lines long", ""},
		{"advice on passwords", "Passwords: rotate them every 90 days", ""},
		{"a password somewhere", "My password for work: see the note", ""},
		{"the speed of the wifi", "The wifi code of conduct is long", ""},
		{"a key that opens the network room", "The network key is with Tom", ""},
		{"a phrase of recovery", "The recovery phrase is a common term in banking and wallets", ""},
		{"a number like an SSN", "Part 078-05-1120 is on order", ""},
		{"a user and words of a password", "the username and password fields are broken in version 12", ""},
		{"a pin in German", "Die Pinnwand ist 100 cm breit", ""},
		{"backup codes that are not told", "My backup codes are in the safe since 2019", ""},
		{"a word in Romanian", "parola este prea scurtă", ""},
		{"a password of Chinese that is too long", "密码太长了，我记不住", ""},

		{"a password that code reads", "password = request.form['password']", ""},
		{"a boarding pass", "My boarding pass: gate 12, seat 4A", ""},
		{"a mountain pass", "The pass: closed until May", ""},
		{"a passing grade", "The pass is 50 percent", ""},
		{"a login page", "The login page / register form is broken", ""},
		{"an account", "My savings account / checking overview", ""},
		{"users and roles", "We have users admin / editor / viewer", ""},
		{"a wrong password in German", "Das Passwort ist falsch.", ""},
		{"a safe password in Spanish", "La contraseña es segura", ""},
		{"a key in Spanish", "La clave es dormir bien", ""},
		{"an IBAN with a wrong digit", "DE89 3704 0044 0532 0130 01", ""},
		{"a door code", "The door code is 4711", ""},
		{"a booking code", "My booking code is QX7T9P and the confirmation number 482913", ""},
		{"a postcode", "My postcode is 90402", ""},
		{"source code", "The code is 4000 lines long and the login code has bugs since 2019", ""},
		{"a tan", "I got a tan in 2019", ""},
		{"a path of forty", "see /usr/local/share/eunoe/docs/architecture", ""},
		{"a name in camel case", "getUserAccountBalanceFromDatabaseServer12", ""},

		{"plain talk", "I moved to Lisbon in May with 2 dogs.", ""},
		{"a number that fails Luhn", "4111 1111 1111 1112", ""},
		{"a millisecond time", "1683554160000", ""},
		{"a phone number", "call +351 912 345 678", ""},
		{"talk about passwords", "The password is wrong and my password is not working", ""},
		{"a forgotten password", "I forgot the password to log in", ""},
		{"a passport", "My passport is in the drawer", ""},
		{"a passion", "My passion is cooking.", ""},
		{"a secret ingredient", "The secret is butter, the token was lost", ""},
		{"a spinning PIN", "He is spinning: 4 times", ""},
		{"a commit hash", "fixed in 9fceb02d0ae598e95dc970b74767f19372d61af8", ""},
		{"a task list", "task-force, risk-averse-investment-opportunities", ""},
		{"short", "ok", ""},
	}
}

type redaction struct{ name, text, want string }

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, c := range redactions() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.want
			if want == "" {
				want = c.text
			}
			got := secret.Redact(c.text)
			if strings.TrimSuffix(got, ".") != strings.TrimSuffix(want, ".") {
				t.Fatalf("Redact(%q) = %q, want %q", c.text, got, want)
			}
			if again := secret.Redact(got); again != got {
				t.Errorf("a second pass gave %q", again)
			}
		})
	}
}

func TestNewRedactor(t *testing.T) {
	t.Parallel()
	t.Run("own patterns extend the built-in ones", func(t *testing.T) {
		t.Parallel()
		r, err := secret.NewRedactor([]string{`EMP-\d{4}`, `badge (\w+)`})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Redact("EMP-1234 has badge zebra and card 4111111111111111")
		if want := "[redacted:custom] has badge [redacted:custom] and card [redacted:card]"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	for name, patterns := range map[string][]string{
		"a pattern that does not compile is refused":       {"a", "("},
		"a pattern that matches the empty text is refused": {"a*"},
		"too many patterns are refused":                    make([]string, 101),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := secret.NewRedactor(patterns); !errors.Is(err, memory.ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"password is hunter2", "sk-proj-" + x(48), "4111 1111 1111 1111", "-----BEGIN PRIVATE KEY-----", "a://b:c@d", "pin: 1234",
		"password: [redacted:password]", "token=\xff\xfeabc12345678"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := secret.Redact(text)
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatalf("Redact(%q) = %q is not valid UTF-8", text, got)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"plain talk", "Caroline attended an LGBTQ support group on 7 May 2023 with her friend Melanie and found the stories inspiring."},
		{"a long text", strings.Repeat("We talked about the garden in spring, the 12 hens, and what 3 of them ate. ", 12_000)},
		{"a password", "By the way, the password of the router at home is hunter2, please remember it."},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				secret.Redact(c.text)
			}
		})
	}
}

// TestALongTextIsReadWhereItCanMatch compares long texts with a reading of all of them by every rule.
func TestALongTextIsReadWhereItCanMatch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	cases := redactions()
	fillers := []string{"We talked about the garden, the 12 hens and what 3 of them ate. ", "x\n", "Ünïçødé ǅ İK ẞ 密 ", strings.Repeat(" ", 300), "a_b-c/d+e", "2026-05-20 12:30:11 4711 ", "key, code and user: ",
		"as_SUA" + strings.Repeat("ABCDE234", 8)[:55] + ", ", strings.Repeat("password is x ", 60), strings.Repeat("das Kennwort ist falsch, der code 12 ", 40)}
	for range 15 {
		var b strings.Builder
		for b.Len() < 12_000 {
			switch r.IntN(3) {
			case 0:
				b.WriteString(cases[r.IntN(len(cases))].text)
			case 1:
				b.WriteString(strings.Repeat(fillers[r.IntN(len(fillers))], 1+r.IntN(60)))
			case 2:
				b.WriteString([]string{"", " ", ". ", "\n", "_", ": "}[r.IntN(6)])
			}
		}
		if got, want := secret.Redact(b.String()), secret.RedactWhole(b.String()); got != want {
			t.Fatalf("%q became %q, by all of the text %q", b.String(), got, want)
		}
	}
}
