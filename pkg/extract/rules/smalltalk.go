package rules

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/text"
	"github.com/eunoe-memory/eunoe/pkg/text/pattern"
)

// smallTalk are the words of each language that state nothing by themselves: greetings, thanks, agreement, surprise,
// and the pronouns, articles and auxiliaries of such sentences. A sentence of nothing else makes no fact. English has
// its lists beside the code that reads them.
var smallTalk = map[text.Language]text.WordSet{
	"de": text.NewWordSet(`hallo hi hey moin servus grüß grüße tag morgen abend nacht guten gute gutes schönen schöne danke dankeschön dank vielen lieben
		bitte bitteschön gern gerne geschehen kein keine problem sorry entschuldigung tschüss tschüs ciao bis bald später dann ja jo jep nein nö nee
		ok okay klar genau stimmt richtig natürlich sicher echt wirklich super toll cool prima klasse schön gut sehr ganz so voll krass geil wow oh ach aha
		hm hmm hmmm haha hehe lol das ist es war wäre klingt finde ich auch bin du bist mir dir mich dich geht gehts wie was na und oder aber doch mal
		eben halt nur noch schon alles alle leute zusammen ein eine einen moment sekunde warte warten kurz gleich mach mache macht schau schaue sehe seh
		verstehe verstanden weiß nicht keine ahnung egal passt in ordnung viel spaß glück erfolg liebe freut freue darauf drauf denke denk glaube lass
		mal überlegen gesagt nichts für der die den dem im da hier dabei recht hast hat habe einverstanden scherz spaß nur weiter so guter`),
	"es": text.NewWordSet(`hola buenas buenos días tardes noches buen día gracias muchas muchísimas de nada por favor perdón perdona disculpa lo siento
		adiós hasta luego pronto mañana nos vemos chao sí si no vale ok okay claro bueno bien muy genial guay perfecto exacto exactamente
		cierto verdad verdadero supuesto acuerdo ya entiendo entendido veo qué que bonito bueno lindo increíble guau vaya ay oh ah eh jaja jajaja
		jeje eso es está esto el la un una momento segundo espera dame me te se yo tú a ti mí también tampoco igual igualmente sé idea ni tal como
		cómo estás encanta alegro alegra suena todo todos y o pero con gusto suerte éxito pues venga dale mucho mucha tanto problema hay ningún
		pienso creo déjame pensar ver vamos broma bromeo era solo sólo cuídate cuento contad cuenta conmigo saludos abrazo beso besos feliz`),
	"fr": text.NewWordSet(`salut bonjour bonsoir bonne bon nuit soirée journée matin coucou merci beaucoup mille de rien s'il te vous plaît plait pardon désolé
		désolée au revoir à bientôt demain plus tard oui ouais non nan si ok okay d'accord bien sûr exactement exact c'est ça vrai juste tout fait
		évidemment super génial cool parfait parfaite top magnifique beau belle très trop tellement wow waouh oh ah eh hein hmm haha mdr lol je j'y
		tu le la les un une l'as pas vois comprends compris sais suis aussi moi toi pour ça va vas comment quoi et ou mais alors donc ben bah voilà
		moment seconde minute attends attendez instant problème souci aucun y a il idée chance courage content contente contents hâte pense réfléchir
		laisse-moi laisse me on verra rigole plaisante bisous bises joyeux anniversaire monde raison as même pareil avec plaisir`),
	"it": text.NewWordSet(`ciao salve buongiorno buonasera buonanotte buon buona giorno sera notte grazie mille tante prego per favore piacere scusa scusi
		scusate mi dispiace arrivederci a dopo presto domani ci vediamo sì si no ok okay va bene certo esatto esattamente giusto vero infatti d'accordo
		capito capisco vedo che bello bella bravo brava fantastico ottimo perfetto perfetta figo davvero molto tanto così wow oh ah eh boh mah uffa
		haha ahah ahaha è sono questo quello il la un una lo non so io tu te me anche come stai sta tutto tutti e o ma allora dunque quindi niente nulla
		problema nessun momento attimo secondo aspetta fammi pensare vediamo scherzo scherzavo auguri forza bene di conta contate su sto penso credo`),
	"pt": text.NewWordSet(`olá oi bom boa dia tarde noite obrigado obrigada muito de nada por favor desculpa desculpe tchau adeus até logo já amanhã sim
		não ok okay tá está bem claro certo exato exatamente verdade isso é mesmo entendi percebi vejo que legal fixe ótimo ótima perfeito incrível
		bacana lindo uau nossa oh ah eh haha kkk rsrs o a um uma eu tu você me te também nem sei ideia como vai tudo todos todas e ou mas então
		problema sem momento segundo minuto espera deixa pensar ver vamos brincadeira brinco sorte parabéns beijo beijos abraço saúde concordo pra
		para mim ti conta conte comigo feliz aniversário só estou`),
	"nl": text.NewWordSet(`hallo hoi hey dag goedemorgen goedemiddag goedenavond goede morgen middag avond nacht dank je wel u bedankt dankjewel dankuwel
		graag gedaan alsjeblieft alstublieft sorry doei tot ziens straks later ja jawel nee ok oké okay prima goed klopt precies natuurlijk zeker echt
		leuk mooi geweldig super fijn top wauw wow oh ah hè hmm haha lol dat is het was een de ik jij ook niet geen probleem weet snap begrijp zie hoe
		gaat met jou mij me alles iedereen en of maar dan nou nog even moment seconde momentje wacht laat denken denk grapje geintje veel succes plezier
		zo te zeg mee eens helemaal`),
	"sv": text.NewWordSet(`hej hejsan tjena god morgon kväll natt dag tack så mycket snälla varsågod förlåt ursäkta hej då vi ses senare ja jo jag nej ok okej
		visst precis exakt absolut sant det är var en ett bra fint kul roligt underbart toll häftigt härligt wow oj åh hmm haha lol vet inte förstår ser hur mår
		du mig dig allt alla och eller men då inga problem ingen fara vänta lite sekund ögonblick låt tänka skojar bara lycka till grattis kram också
		håller med`),
	"da": text.NewWordSet(`hej hejsa god godmorgen morgen aften nat dag tak så meget mange selv velbekomme undskyld farvel vi ses senere ja jo jeg nej ok okay for hjælpen
		klart præcis lige nøjagtigt sandt det er var en et godt fint sjovt dejligt fedt wow åh hmm haha lol ved ikke forstår kan se hvordan går du mig
		dig alt alle og eller men så intet ingen problem problemer vent øjeblik sekund lad tænke bare laver sjov held lykke tillykke knus også enig`),
	"nb": text.NewWordSet(`hei heisann god morgen kveld natt dag takk for så mye mange tusen vær bare hyggelig beklager unnskyld ha det vi ses snakkes senere ja jo jeg
		nei ok greit klart nettopp akkurat helt sant det er var en et bra fint gøy kult supert herlig wow å åh hmm haha lol vet ikke skjønner forstår ser
		hvordan går du meg deg alt alle og eller men så ikke noe ingen problem vent litt øyeblikk sekund la tenke tuller lykke til gratulerer klem også enig`),
	"fi": text.NewWordSet(`moi hei terve huomenta hyvää hyvä iltaa yötä päivää huomenta kiitos kiitti paljon ole hyvä olkaa anteeksi heippa nähdään moikka joo
		kyllä ei ok okei selvä juuri niin aivan totta tietysti varmasti hienoa hieno kiva mahtava mahtavaa upea wow oho vau hmm haha se on oli tämä en tiedä
		ymmärrän näen mitä kuuluu minä sinä minulle kaikki ja tai mutta no hetki hetkinen odota vähän ongelmaa mietitään vitsi vitsailin onnea samoin`),
	"pl": text.NewWordSet(`cześć hej siema dzień dobry wieczór dobranoc dzięki dziękuję dziekuje bardzo proszę prosze przepraszam pa do zobaczenia widzenia jutra tak
		no nie ok okej dobrze dobra jasne pewnie oczywiście dokładnie właśnie racja prawda masz zgadzam się super świetnie świetny fajnie fajne ekstra
		pięknie wow o oj ach och hmm haha lol to jest było i a ale ja ty też wiem rozumiem widzę jak leci co u ciebie mnie wszystko wszyscy wszystkim
		chwila moment chwilę sekundę czekaj poczekaj niech pomyślę żartuję żart problem problemu ma sprawy powodzenia gratulacje nic za`),
	"cs": text.NewWordSet(`ahoj čau nazdar dobrý den dobré ráno večer dobrou noc děkuji díky dík moc prosím promiň promiňte pardon měj se mějte nashledanou zatím ano
		jo ne ok dobře jasně jistě určitě přesně pravda máš pravdu souhlasím super skvělé skvěle paráda bezva hezké pěkné wow ó ach hmm haha to je byl bylo
		a ale já ty taky vím nevím rozumím chápu vidím jak máš co všechno všichni všem chvíli moment okamžik vteřinu počkej nech přemýšlet dělám si srandu
		žádný problém není zač hodně štěstí gratuluji nic`),
	"tr": text.NewWordSet(`merhaba selam günaydın iyi akşamlar geceler günler teşekkürler teşekkür ederim sağ ol sağol çok lütfen rica özür dilerim pardon görüşürüz
		hoşça kal güle evet hayır tamam tabii tabi kesinlikle aynen doğru elbette harika süper güzel mükemmel vay of ah hmm haha bu şu o ben sen de da
		bilmiyorum anladım anlıyorum görüyorum nasılsın naber ne haber her şey herkese herkes ve ama peki şey bir dakika saniye bekle düşüneyim şaka yaptım
		sorun değil yok bol şans tebrikler`),
	"hu": text.NewWordSet(`szia sziasztok helló jó reggelt napot estét éjszakát köszönöm köszi szépen nagyon kérlek kérem bocs bocsánat elnézést viszlát igen aha
		nem ok oké rendben persze pontosan igaz úgy van szuper remek nagyszerű klassz szép wow ó ah hmm haha ez az a és de hát én te is tudom értem látom hogy
		vagy mi újság minden mindenkinek mindenki egy pillanat pillanatot várj hadd gondolkodjak csak vicc vicceltem semmi baj gond sok szerencsét gratulálok`),
	"ro": text.NewWordSet(`salut bună ziua dimineața seara noapte mulțumesc mersi mult te rog cu plăcere scuze îmi pare rău pa revedere da nu ok bine sigur exact desigur
		adevărat ai dreptate super grozav minunat frumos tare wow o ah hmm haha asta este e eu tu și dar nici știu înțeleg văd ce mai faci totul toată lumea
		un moment o secundă stai așteaptă să mă gândesc glumesc nicio problemă noroc felicitări la`),
	"id": text.NewWordSet(`halo hai hei selamat pagi siang sore malam terima kasih makasih banyak sama-sama sama tolong maaf permisi sampai jumpa dah ya iya tidak nggak ok
		oke baik tentu pasti benar betul setuju bagus keren hebat mantap luar biasa wow oh ah hmm haha wkwk itu ini saya aku kamu juga tahu mengerti lihat apa kabar
		semua semuanya dan tapi tunggu sebentar bercanda cuma tidak masalah apa-apa semoga sukses`),
	"vi": text.NewWordSet(`chào xin bạn anh chị em cảm ơn nhiều không có gì làm ơn lỗi tạm biệt hẹn gặp lại vâng dạ ừ đúng rồi được tốt tuyệt vời hay quá đẹp thật wow ồ à hmm haha
		đó là tôi cũng biết hiểu thấy mọi người và nhưng chờ chút đợi đùa thôi sao chúc may mắn mừng buổi sáng tối ngủ ngon`),
	"ru": text.NewWordSet(`привет здравствуй здравствуйте доброе утро добрый день вечер спокойной ночи спасибо большое огромное пожалуйста извини извините прости простите
		пока до свидания завтра встречи увидимся да ага нет ок окей хорошо ладно конечно точно именно верно правда согласен согласна понятно ясно понял поняла
		вижу супер класс классно круто отлично здорово прекрасно замечательно очень так как ого вау ой ах о эх ну хм ммм хаха ха это что все всё всем и а но
		я ты мне тебе тоже не знаю дела у вас тебя ничего проблем проблема нет минуту минутку секунду момент подожди подождите дай подумать подумаю шучу
		шутка удачи поздравляю рад рада за меня`),
	"uk": text.NewWordSet(`привіт вітаю доброго ранку дня добрий день вечір на добраніч дякую дуже велике спасибі прошу будь ласка вибач вибачте бувай до побачення завтра
		так ага ні ок добре гаразд звичайно точно саме вірно правда згоден згодна зрозуміло ясно супер клас круто чудово гарно ого вау ой ах ну хм хаха це що все
		всім і а але я ти мені тобі теж не знаю як справи нічого проблем хвилинку секунду зачекай подумати жартую удачі вітання`),
	"el": text.NewWordSet(`γεια σου σας καλημέρα καλησπέρα καληνύχτα καλό βράδυ ευχαριστώ πολύ παρακαλώ συγγνώμη αντίο τα λέμε ναι όχι οκ εντάξει βέβαια φυσικά ακριβώς σωστά
		αλήθεια έχεις δίκιο συμφωνώ κατάλαβα καταλαβαίνω βλέπω τέλεια τέλειο ωραία ωραίο υπέροχα φοβερό ουάου α ω αχ χμ χαχα αυτό είναι ήταν και αλλά εγώ εσύ κι
		δεν ξέρω τι κάνεις όλα όλοι όλους καλά μια στιγμή ένα λεπτό περίμενε να σκεφτώ πλάκα κάνω κανένα πρόβλημα τίποτα καλή τύχη συγχαρητήρια`),
	"ar": text.NewWordSet(`مرحبا أهلا وسهلا السلام عليكم وعليكم صباح مساء الخير النور تصبح على خير شكرا جزيلا لك عفوا من فضلك آسف أسف مع السلامة إلى اللقاء نعم لا أيوه حسنا
		تمام طبعا بالتأكيد صحيح بالضبط أكيد فهمت أرى رائع جميل ممتاز جدا واو هذا هو أنا أنت أيضا أعرف كيف حالك الحال كل شيء الجميع لحظة انتظر أمزح مشكلة
		بالتوفيق مبروك الحمد لله`),
	"he": text.NewWordSet(`שלום היי בוקר טוב ערב לילה תודה רבה בבקשה סליחה להתראות ביי כן לא אוקיי בסדר בטח ברור בדיוק נכון אמת הבנתי רואה מעולה מצוין יפה מגניב אחלה
		וואו אה הממ חחח זה זו אני אתה את גם יודע יודעת מה נשמע שלומך הכל כולם רגע שנייה חכה צוחק אין בעיה בהצלחה מזל`),
	"hi": text.NewWordSet(`नमस्ते हाय हेलो सुप्रभात शुभ रात्रि धन्यवाद शुक्रिया बहुत कृपया माफ़ माफ करना कीजिए अलविदा फिर मिलेंगे हाँ हां जी नहीं ठीक है अच्छा सही बिल्कुल ज़रूर समझ
		गया गई वाह ओह हम्म हाहा यह वह मैं तुम आप भी पता क्या हाल कैसे हो हैं सब एक मिनट रुको मज़ाक कोई बात शुभकामनाएँ बधाई`),
}

// fillers are the same of languages that put no spaces between words, longest first where one holds another.
var fillers = map[text.Language]*strings.Replacer{
	"zh": without(`你好吗 你好 您好 大家好 早上好 下午好 晚上好 早安 晚安 早啊 谢谢你们 谢谢你 谢谢您 谢谢 謝謝 多谢 感谢 不客气 不用谢 没关系 没问题 沒問題 没事 对不起 不好意思 抱歉
		再见 拜拜 回头见 明天见 待会见 好的 好啊 好吧 好呀 好 是的 是啊 是吗 对的 对啊 对呀 对 當然 当然 没错 同意 明白了 明白 知道了 我知道 我懂了 懂了 了解 收到 原来如此 这样啊 真的吗 真的
		太棒了 太好了 太 厉害 棒 不错 哇 哦 噢 喔 嗯嗯 嗯 唔 哈哈哈 哈哈 嘿嘿 呵呵 呃 等一下 等等 稍等 一下 让我想想 想想 我也是 我也 开玩笑的 开玩笑 加油 祝你好运 恭喜 辛苦了 怎么样 不知道 我不 可以 行 啊 呀 吧 了 的 呢 吗 嘛 我 你`),
	"ja": without(`おはようございます おはよう こんにちは こんばんは おやすみなさい おやすみ ありがとうございます ありがとう どうも どういたしまして すみません ごめんなさい ごめん 失礼します さようなら
		またね また明日 じゃあね じゃあ バイバイ はい うん ええ いいえ いや ううん そうです そうですね そうだね そうか そう なるほど わかりました わかった 分かりました 分かった 了解です 了解 もちろん 確かに
		大丈夫です 大丈夫 問題ない いいですね いいね いい すごい 素晴らしい 最高 やった 楽しみ へえ えっ えー あー わあ おお あの えっと うーん ふむ はは 笑 ちょっと待って 待って 冗談です 冗談 頑張って
		おめでとう お疲れ様です お疲れ様 お疲れ 元気 よろしくお願いします よろしく 私も 僕も 俺も 知らない 考えさせて です ます ね よ か な だ`),
	"ko": without(`안녕하세요 안녕 좋은 아침 잘 자요 잘자 감사합니다 고마워요 고마워 고맙습니다 천만에요 죄송합니다 미안해요 미안 안녕히 가세요 계세요 또 봐요 네 예 응 아니요 아니 아뇨 그래요 그래 좋아요 좋아
		알겠습니다 알겠어요 알겠어 알았어요 알았어 맞아요 맞아 물론이죠 물론 그렇군요 그렇구나 정말요 정말 진짜 대박 멋져요 멋지다 최고 와 오 아 음 흠 어 ㅋㅋㅋ ㅋㅋ ㅋ ㅎㅎ ㅎ 잠깐만요 잠깐만 잠시만요 기다려
		생각해 볼게요 생각해볼게 농담이에요 농담 괜찮아요 괜찮아 문제없어요 화이팅 축하해요 축하해 저도요 저도 나도 몰라요 몰라 여러분 모두`),
	"th": without(`สวัสดีครับ สวัสดีค่ะ สวัสดี ขอบคุณมาก ขอบคุณ ไม่เป็นไร ขอโทษ ลาก่อน ใช่ ไม่ โอเค ตกลง ได้ เข้าใจแล้ว เข้าใจ แน่นอน จริงเหรอ จริง ดีมาก เยี่ยม สุดยอด ว้าว อ๋อ ฮ่าๆ 555 รอสักครู่ ครับ ค่ะ คะ นะ`),
}

func without(list string) *strings.Replacer {
	var pairs []string
	for w := range strings.FieldsSeq(list) {
		pairs = append(pairs, w, "")
	}
	return strings.NewReplacer(pairs...)
}

// says counts the words of a sentence in a language other than English that are no small talk; two characters of a
// script without spaces count as one word. words counts them all.
func says(s string, lang text.Language) (content, words int) {
	if f := fillers[lang]; f != nil {
		rest := f.Replace(s)
		n := strings.Count(strings.Map(letterOnly, rest), "") - 1
		return n / 2, (utf8.RuneCountInString(s) + 1) / 2
	}
	for _, p := range split(straighten(s)) {
		if p.low == "" || strings.Trim(p.low, "0123456789") == "" {
			continue
		}
		words++
		if !small(p.low, lang) {
			content++
		}
	}
	return content, words
}

// maxSmallTalk is how many words a sentence of small talk has at most.
const maxSmallTalk = 8

// onlySmallTalk reports whether every word of a sentence is small talk in one language, whichever that is: such
// sentences are too short to tell their language.
func onlySmallTalk(s string) bool {
	var words []string
	for _, p := range split(straighten(s)) {
		if p.low != "" {
			words = append(words, p.low)
		}
	}
	if len(words) == 0 || len(words) > maxSmallTalk {
		return false
	}
	for _, set := range smallTalk {
		if !slices.ContainsFunc(words, func(w string) bool { return !set.Has(w) }) {
			return true
		}
	}
	return false
}

// small reports whether a word is small talk in a language; of an unknown language, in any.
func small(word string, lang text.Language) bool {
	if lang == text.English {
		return polite.Has(word) || text.IsStop(word)
	}
	if lang != "" {
		return smallTalk[lang].Has(word) || polite.Has(word) && text.IsASCII(word) && len(word) < 4
	}
	for _, set := range smallTalk {
		if set.Has(word) {
			return true
		}
	}
	return polite.Has(word) || text.IsStop(word)
}

func letterOnly(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return -1
}

// introduction finds a speaker's own name at the beginning of a sentence, and what is said behind it.
var introduction = pattern.New(`(?i)^(I'm|I am|Im|My name is|My name's|This is) ([\p{L}'-]+(?: [\p{L}'-]+)?)(?:,| and|, and) (.+)$`)

// withoutName takes the name out of a sentence in which its speaker, who is known by it, tells it: "I'm Ann, I live in
// Rome" says where Ann lives.
func (t *drafter) withoutName(s string) string {
	m := introduction.FindStringSubmatch(s)
	if m == nil || t.message.Speaker == "" {
		return s
	}
	name, speaker := strings.ToLower(m[2]), strings.ToLower(t.message.Speaker)
	if name != speaker && !strings.HasPrefix(speaker, name+" ") {
		return s
	}
	switch rest := m[3]; firstWord(split(rest)) {
	case "i", "i'm", "i've", "i'll", "im", "my", "we", "we're", "our":
		return capitalise(rest)
	case "a", "an", "the":
		if strings.HasPrefix(strings.ToLower(m[1]), "i") {
			return m[1] + " " + rest
		}
	}
	return s
}
