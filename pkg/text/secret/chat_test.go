package secret_test

import (
	"strings"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// given are sentences in which people give a secret away, each behind the secret.
const given = `
Rainbow!77 | hey can u log into my hulu its jess@mail.com and the pw is Rainbow!77
tigerlily9 | ok so the garage wifi, network is "Barn", passwrod tigerlily9
0442 | gate pin 0442, then left
b7f2c9d14e8a4f0c9a77 | X-Api-Key: b7f2c9d14e8a4f0c9a77
Mango-Lassi-42 | Our guest network uses Mango-Lassi-42 as its password
4929 3817 2201 5579 | put it on my visa 4929 3817 2201 5579 thx
918 | visa ends next march, security code 918
730114 | they texted me 730114 as the verification code
pa55-w0rd-x | i changed my login: new password = pa55-w0rd-x
hunter2hunter | Password for Netflix? it's hunter2hunter
Bl00mfield_8 | username kmiller, pass Bl00mfield_8
J4zzH4nds | my passcode's J4zzH4nds
vault tenant gossip ripple oxygen barrel siren melody cactus inform lawn quick | my 12 words: vault tenant gossip ripple oxygen barrel siren melody cactus inform lawn quick
GB29NWBK60161331926819 | send rent to GB29NWBK60161331926819
mypass123 | pwd:mypass123
Summer2024! | Sign in as admin with Summer2024!
q8Zk2mPw | The password you need to use for the VPN would be q8Zk2mPw
wX9!tree | i always use wX9!tree as my password
Kartoffel99 | mein passwort für ebay: Kartoffel99
Sommer!2023 | das pw fürs wlan lautet Sommer!2023 sag bitte bescheid
DE44500105175407324931 | Überweis es bitte auf DE44500105175407324931
Blumenwiese7 | Das Paswort vom Laptop ist Blumenwiese7
662190 | TAN für die Überweisung: 662190
katze_im_sack5 | zugangsdaten: user maria passwort katze_im_sack5
Regen-Bogen-12 | Unser WLAN heißt Villa und der Schlüssel ist Regen-Bogen-12
1973 | die Pin fürs Handy lautet 1973
Soleil2022! | mon mdp insta c'est Soleil2022!
petitchat88 | le code wifi est petitchat88
7340 | le code de ma carte c'est 7340
FR7630006000011234567890189 | voici mon RIB : FR7630006000011234567890189
883412 | code de vérification reçu par sms : 883412
tk_93jsdf82kd92jf | le jeton d'accès est tk_93jsdf82kd92jf
gatito2021 | la contrasena del netflix es gatito2021
Luna&Sol9 | mi clave del banco es Luna&Sol9
5519 | el pin de mi tarjeta es 5519
PerroLoco1 | usuario: juan contraseña: PerroLoco1
ES9121000418450200051332 | te paso mi cuenta ES9121000418450200051332
Gelato-2020 | la psw del wi-fi è Gelato-2020
6127 | il mio pin è 6127
Cuore99! | password di spotify: Cuore99!
IT60X0542811101000000123456 | bonifico su IT60X0542811101000000123456 grazie
445903 | il codice OTP è 445903
saudade77 | a senha do wifi é saudade77
9034 | minha senha do cartão é 9034
Praia@2022 | minha senha nova é Praia@2022
771203 | o código de verificação é 771203
chave_8f7d6s5a4q | a chave da API é chave_8f7d6s5a4q
Fietsbel12 | ww van de wifi is Fietsbel12
4410 | mijn pincode is 4410
Tulp-2023! | het wachtwoord voor de router is Tulp-2023!
NL91ABNA0417164300 | maak over naar NL91 ABNA 0417 1643 00
kotek1987 | moje haslo to kotek1987
Zima!2022 | hasło do wifi: Zima!2022
5531 | pin do karty to 5531
209834 | kod z sms-a: 209834
kotik_2019 | пароль от вк kotik_2019
Berёza77 | мой пароль — Berёza77
4821 | пин от карты 4821
557203 | код из смс 557203
Bahar2021 | wifi sifresi Bahar2021
3390 | kart şifrem 3390
Deniz!99 | instagram şifrem: Deniz!99
664120 | doğrulama kodum 664120
Panda2020 | wifi密码是Panda2020
662018 | 我银行卡密码是662018
884213 | 验证码884213,别告诉别人
xiaomao_88 | 账号lily 密码xiaomao_88
sakura2021 | WiFiのパスワードはsakura2021だよ
4479 | 暗証番号は4479です
Fuji!san22 | パスワード：Fuji!san22
559012 | 認証コードは559012
neko-api-77ff2e91 | APIキーは neko-api-77ff2e91 です
zebra-kite-moon-9 | Recovery key is zebra-kite-moon-9, print it
K7Q2-M9XB-44TR | bitlocker recovery key K7Q2-M9XB-44TR
qqq!111aaa | curl -u admin:qqq!111aaa https://x.example.com
Oak#Leaf3 | passsword is Oak#Leaf3
9917 | my debit pin number is 9917 dont forget
hunter_77 | log in with bob@example.com / hunter_77
Baguette1789 | identifiant: paul, mot de passe: Baguette1789
geheim_4711x | Benutzername: tom, Kennwort: geheim_4711x
sol_y_mar8 | la contra del wifi es sol_y_mar8
Giraffe_Bus_19 | yo the wifi at airbnb is "SeaView" and pass is Giraffe_Bus_19
kn1ghtR1der | btw steam acc: dave_k / kn1ghtR1der
7719 | my atm pin? 7719. dont tell
m0nkeyz88 | paswrd for the shared drive = m0nkeyz88
cobalt-fig-88 | she set cobalt-fig-88 as the new password for the shared account
ZX81-QQ44-PL90 | here are my github recovery codes ZX81-QQ44-PL90
eeL7pQz0TTr2 | ftp creds - user deploy, password eeL7pQz0TTr2
Erdbeere#5 | ok neues pw: Erdbeere#5
Dackel2018 | passwort vom router steht hinten: Dackel2018
4471 | meine bank pin war immer 4471
uhu_und_maus3 | das kennwort für moodle, falls du es brauchst: uhu_und_maus3
Croissant!8 | le mdp netflix a changé, maintenant c'est Croissant!8
4452 | code pin de la carte sim : 4452
loulou1999x | mot de passe wifi loulou1999x
Tortuga-77 | la clave del wifi es Tortuga-77
2299 | mi pin del cajero es 2299
abuela1945x | contraseña: abuela1945x
Pizza_Fritta1 | password del router: Pizza_Fritta1
8190 | pin della sim 8190
Cachorro#12 | senha do email: Cachorro#12
xyz_token_88231kk | meu token é xyz_token_88231kk
Stroopwafel8! | mn wachtwoord is Stroopwafel8!
3381 | de pin van mijn pas is 3381
Pierogi#3 | nowe hasło: Pierogi#3
6640 | mój pin: 6640
Medved_88 | пароль от вайфая Medved_88
901144 | пришёл код подтверждения 901144
Simit_2020 | netflix şifresi Simit_2020
7781 | kartın pin kodu 7781
dumpling#9 | 我的邮箱密码: dumpling#9
330194 | 短信验证码是330194
Ramen_4u | 新しいパスワードはRamen_4uです
771903 | ワンタイムパスワード 771903
`

// innocent are sentences near them that give nothing away.
const innocent = `
My password manager is Bitwarden.
The password was too short, it needs 12 characters.
I forgot my password again yesterday.
My order number is 48213377.
Order #902134 arrives on Friday.
Call me at +1 415 555 0132 tonight.
The version is 4.12.3 and the build 20240511.
Commit 3f2a9c1d7e8b5a6049382716fedcba9876543210 broke it.
The ISBN is 978-3-16-148410-0.
My zip code is 90210.
The QR code on page 12 is broken.
The promo code SUMMER20 saves ten percent.
Our team uses 1Password for everything.
The password policy requires 8 letters and 2 digits.
The token limit is 128000.
The model has a context of 200000 tokens.
The secret to good pasta is salt.
The key is under the mat.
The key is C minor, tempo 120.
She pinned 3 posts today.
I pinned the note with id 4451.
I bought a pin for 5 euros.
PIN diodes carry 2000 volts.
The conference pass costs 450 dollars.
Her login streak is 45 days.
The login page loads in 300ms.
The wifi is slow since 2023.
The wifi in room 204 is called Hilton5G.
My username is lily_92.
My email is tom.brown84@example.com.
The recovery took 12 weeks after surgery.
The tracking number is 1Z999AA10123456784.
The md5 is d41d8cd98f00b204e9800998ecf8427e.
uuid 550e8400-e29b-41d4-a716-446655440000 is the request id.
The invoice 2023-00417 is paid.
I changed the password policy on 2024-03-01.
My password is older than 3 years.
The password expires in 30 days.
Password reset was on 12 May 2023.
Das Passwort muss 12 Zeichen lang sein.
Die Bestellnummer lautet 77120934.
Meine Postleitzahl ist 10115.
Der Termin ist um 14:30 im Raum 2.04.
Der Schlüssel ist bei Oma.
Le mot de passe est trop court, il faut 10 caractères.
Mon code postal est 75011.
Le numéro de commande est 5521098.
J'ai oublié le mot de passe hier.
La clé est sous le paillasson.
La contraseña es demasiado corta, mínimo 8.
El código postal es 28013.
La clave del éxito es practicar 2 horas.
El pedido 88213 llega mañana.
La password è scaduta da 3 giorni.
Il codice postale è 20121.
Il codice fiscale serve domani.
A senha expirou há 10 dias.
Het wachtwoord is verlopen sinds 2022.
Mijn postcode is 1012AB.
Hasło jest za krótkie, musi mieć 8 znaków.
Пароль слишком короткий, нужно 8 символов.
Пароль я забыл ещё в 2020 году.
Код ошибки 500.
Şifrem çok kısa, 8 karakter olmalı.
密码太短了，至少要8位。
我的手机号是13812345678。
订单号是20240511882。
パスワードを忘れました。
パスワードは8文字以上必要です。
郵便番号は1500001です。
注文番号は4471902です。
The verification took 3 minutes and the code is 400 lines long.
The code of the bug is ABC-1234 in Jira.
The room code is 12.
I have 2 API keys and 3 tokens left.
The API key expires on 2025-01-01.
Our API key rotation happens every 90 days.
The secret santa budget is 25 euros.
He scored 4470 points with that pin.
The card number of Pikachu is 025 of 165.
My library card has 14 books on it.
The security code review found 918 issues.
The seed phrase of bitcoin wallets has 12 or 24 words.
Sign in with Google is broken in 2.0.
I log in with my iPhone15.
The door code is on the fridge.
The combination of 3 herbs and 24 spices.
The passphrase should be easy to remember.
I use the same password as my brother.
The password field has maxlength=64.
I lost the password to my old Hotmail account in 2014.
My new password has 16 characters and no digits.
Use a password of at least 14 characters.
Wrote a blog about password hashing with argon2id.
LastPass got hacked in 2022 so I moved.
The booking reference is KX7R2P.
The wifi costs 5 euros per day at the Ibis.
The pin on the map is at 48.2082, 16.3738.
I got 3 pins and 12 badges from Expo2020.
The code freeze starts on 2024-06-01.
Chapter 7 of the code of conduct has 12 rules.
My employee number is 448210.
The patch is in commit 9fceb02.
Our key account manager is Tom2.
Room key 204 is at the desk.
The token ring network from 1985.
A bearer of good news came at 10.
Password rules: 8 letters, 1 digit, 1 sign.
Das Passwort läuft in 14 Tagen ab.
Die PIN darf nur 4 Stellen haben.
Der Code hat 1200 Zeilen.
Le mot de passe expire dans 15 jours.
La clave de sol es la primera.
La contraseña caduca en 90 días.
Il pin si trova sulla lettera del 2019.
La password deve avere 8 caratteri.
A senha deve ter 8 dígitos.
Hasło wygasa za 30 dni.
Пароль истекает через 30 дней.
Şifre en az 8 karakter olmalı.
密码需要包含8个字符。
パスワードの有効期限は90日です。
Our recovery plan is version 3-b-2024.
The login count was 4411 yesterday.
I sign in with my work account since March2023.
`

func TestWhatPeopleGiveAwayInAChatIsRedacted(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(given)) {
		value, text, _ := strings.Cut(strings.TrimSpace(line), " | ")
		if got := secret.Redact(text); strings.Contains(got, value) || got == text {
			t.Errorf("%q became %q, which holds %q", text, got, value)
		} else if again := secret.Redact(got); again != got {
			t.Errorf("a second pass made %q of %q", again, got)
		}
	}
}

func TestWhatGivesNothingAwayIsKept(t *testing.T) {
	t.Parallel()
	for text := range strings.Lines(strings.TrimSpace(innocent)) {
		if text = strings.TrimSpace(text); secret.Redact(text) != text {
			t.Errorf("%q became %q", text, secret.Redact(text))
		}
	}
}

// TestACrowdOfNamesIsNotReadByExpressions looks at long texts in which names of secrets crowd and no secret stands: the
// expressions, which take a microsecond for a byte of them, read little of it.
func TestACrowdOfNamesIsNotReadByExpressions(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"password is x ", "password is x. ", "code is 123 ", "token is x1 ", "my password of the q7 ", "пароль x ", "密码x ", "pin is 12 ", "wifi key "} {
		text := strings.Repeat(unit, 200<<10/len(unit)) + "the password is Hase99&x."
		if got := secret.Redact(text); strings.Contains(got, "Hase99&x") || strings.Count(got, "[redacted:") != 1 {
			t.Errorf("%q: %d are redacted: …%q", unit, strings.Count(got, "[redacted:"), got[len(got)-60:])
		}
		if read := secret.ReadByExpressions(text); read > 2*len(text) {
			t.Errorf("%q: expressions read %d bytes of a text of %d", unit, read, len(text))
		}
	}
}
