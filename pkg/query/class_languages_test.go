package query_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// talk is what was said in a language, and what is asked about it.
type talk struct {
	language string
	small    []string // says nothing of any class
	asked    []struct{ question, said string }
}

// TestAClassIsAnsweredByItsThingsInOtherLanguages asks for classes in words that nobody said.
func TestAClassIsAnsweredByItsThingsInOtherLanguages(t *testing.T) {
	t.Parallel()
	talks := []talk{
		{"de", []string{
			"Na, alles klar bei euch?", "Mir ist heute gar nicht danach.", "Bis später, ich muss los.",
			"Das hätte ich nie gedacht.", "Ruf mich doch mal an.", "Der Termin wurde verschoben.",
		},
			[]struct{ question, said string }{
				{"Welche Haustiere bekommen wir?", "Morgen holen wir zwei Wellensittiche ab."},
				{"Was für Sport treibt er?", "Dienstags klettert er in der alten Brauerei."},
				{"Welche Allergien hat Opa?", "Von Haselnüssen schwillt ihm das Gesicht an."},
				{"Was für Möbel brauchen wir?", "Der Sessel vom Sperrmüll wackelt bedenklich."},
				{"Welche Pflanzen stehen im Flur?", "Die Orchideen kriegen zu viel Licht."},
				{"Welches Instrument lernt Mia?", "Seit Ostern quietscht hier die Querflöte."},
			}},
		{"es", []string{
			"¿Qué tal, cómo va todo?", "Luego te llamo, que ahora no puedo.", "No me lo esperaba para nada.",
			"Quedamos a las ocho entonces.", "Vaya semana más larga.", "Ya me dirás algo.",
		},
			[]struct{ question, said string }{
				{"¿Qué instrumentos toca mi hermano?", "Lleva años con el violonchelo."},
				{"¿Qué mascotas tienen ellos?", "Rescataron dos gatitos de la calle."},
				{"¿Qué deportes practica Iván?", "Iván se apuntó a esgrima con su primo."},
				{"¿A qué tengo alergia?", "Con las almendras se me hincha la boca."},
				{"¿Qué fruta le gusta a Inés?", "Inés se comería un kilo de ciruelas."},
				{"¿Qué profesión tiene Laura?", "A Laura la contrataron de bombera en junio, antes era enfermera."},
			}},
		{"fr", []string{
			"Salut, ça va bien ?", "Je te rappelle plus tard.", "On se voit vendredi alors.",
			"Je ne m'y attendais pas du tout.", "Quelle semaine, je te jure.", "Tu me diras ce que tu en penses.",
		},
			[]struct{ question, said string }{
				{"Quels sports fait-il ?", "Luc s'est inscrit à l'escrime à la rentrée."},
				{"Quels animaux ont-ils ?", "Nos perruches réveillent tout l'immeuble."},
				{"De quel instrument joue-t-elle ?", "Elle a ressorti son accordéon du grenier."},
				{"Quels meubles avons-nous achetés ?", "La commode ne passe pas dans l'escalier."},
				{"Quelles maladies ai-je eues ?", "J'ai attrapé la varicelle à six ans."},
				{"Quels vêtements a-t-elle perdus ?", "Son écharpe est restée dans le train."},
			}},
		{"it", []string{
			"Ciao, come va?", "Ti chiamo dopo, adesso non posso.", "Non me l'aspettavo proprio.",
			"Ci vediamo alle otto allora.", "Che settimana lunga.", "Fammi sapere qualcosa.",
		},
			[]struct{ question, said string }{
				{"Quali strumenti suona lei?", "Si è comprata una fisarmonica usata."},
				{"Che animali ha lui?", "Dorme con tre gatti sul letto."},
				{"Quale sport fa lei?", "Tira di scherma il giovedì."},
				{"Che lavoro fa Bruno?", "Bruno adesso è idraulico in proprio."},
				{"Quali frutti non posso mangiare?", "Le albicocche mi fanno gonfiare le labbra."},
			}},
		{"pt", []string{
			"Oi, tudo bem com você?", "Depois eu te ligo, agora não posso.", "Não esperava isso de jeito nenhum.",
			"A gente se vê às oito então.", "Que semana comprida.", "Me conta depois.",
		},
			[]struct{ question, said string }{
				{"Que instrumentos ela toca?", "Voltou a ensaiar com o cavaquinho."},
				{"Quais esportes ele pratica?", "Foi para a natação antes do sol nascer."},
				{"Que animais de estimação eles têm?", "As tartarugas fugiram do quintal de novo."},
				{"Qual é a profissão da Bia?", "A Bia passou no concurso e virou juíza."},
				{"Em que países ela morou?", "Ela passou três anos na Noruega."},
			}},
		{"nl", []string{
			"Hoi, alles goed met jullie?", "Ik bel je later, nu kan het niet.", "Dat had ik echt niet verwacht.",
			"Tot acht uur dan.", "Wat een lange week.", "Laat maar weten.",
		},
			[]struct{ question, said string }{
				{"Welke huisdieren heeft ze?", "Ze nam twee katten over van haar buurvrouw."},
				{"Welk instrument bespeelt hij?", "Elke avond blaast hij op zijn trompet."},
				{"Welke sporten doet Fleur?", "Fleur ging schaatsen op de plas."},
				{"Welke groenten lust hij niet?", "Spruitjes schuift hij naar de rand van het bord."},
				{"Welke meubels hebben we verkocht?", "De boekenkasten gingen weg via marktplaats."},
			}},
		{"sv", []string{
			"Hej, hur är läget?", "Jag ringer dig senare, nu går det inte.", "Det hade jag aldrig trott.",
			"Vi ses klockan åtta då.", "Vilken lång vecka.", "Hör av dig sen.",
		},
			[]struct{ question, said string }{
				{"Vilka husdjur har hon?", "Hon matar kaninerna före gryningen."},
				{"Vilket instrument spelar han?", "Han släpar runt på ett dragspel."},
				{"Vilka sporter håller Maja på med?", "Maja rider tre kvällar i veckan."},
				{"Vilka länder har de besökt?", "De cyklade genom Danmark i fjol."},
				{"Vilket yrke har Oskar?", "Oskar blev klar rörmokare i våras."},
			}},
		{"pl", []string{
			"Cześć, co u was słychać?", "Oddzwonię później, teraz nie mogę.", "W ogóle się tego nie spodziewałam.",
			"To widzimy się o ósmej.", "Ale długi tydzień.", "Daj potem znać.",
		},
			[]struct{ question, said string }{
				{"Jakie zwierzęta mamy?", "Przed wyjściem karmi papużki."},
				{"Na jakim instrumencie on gra?", "Ćwiczy na wiolonczeli do północy."},
				{"Jakie sporty uprawia Ola?", "Ola chodzi na siatkówkę z koleżankami."},
				{"W jakich krajach byliśmy?", "Pociąg do Hiszpanii jechał całą noc."},
				{"Na co mam alergię?", "Po orzechach puchnie mi język."},
			}},
		{"ru", []string{
			"Привет, как вы там?", "Перезвоню позже, сейчас не могу.", "Вот уж не ожидала.",
			"Тогда увидимся в восемь.", "Какая длинная неделя.", "Потом расскажешь.",
		},
			[]struct{ question, said string }{
				{"Какие у неё питомцы?", "Аня подобрала двух котят у подъезда."},
				{"На каких инструментах он играет?", "Пилит на скрипке до полуночи."},
				{"Каким спортом занимается Лена?", "Лена записалась на фехтование."},
				{"В каких странах мы были?", "Поезд через Финляндию шёл всю ночь."},
				{"Какие фрукты мне нельзя?", "От персиков у меня опухают губы."},
				{"Какая мебель нам нужна?", "Кресло с балкона совсем шатается."},
			}},
		{"zh", []string{"最近怎么样？", "我晚点再打给你。", "真没想到会这样。", "那我们八点见。", "这个星期好长啊。", "到时候告诉我一声。"},
			[]struct{ question, said string }{
				{"家里养了哪些宠物？", "那只仓鼠昨晚又跑出来了。"},
				{"他会什么乐器？", "阿强每天晚上拉二胡到十点。"},
				{"她平时做什么运动？", "她周三晚上去学击剑。"},
				{"我对什么过敏？", "一吃芒果嘴就肿。"},
				{"家里有哪些家具？", "那张沙发是捡来的，有点晃。"},
				{"我们去过哪些国家？", "坐夜车穿过芬兰，外面全是雪。"},
			}},
		{"ja", []string{"最近どうですか。", "あとで電話しますね。", "まさかこうなるとは思わなかった。", "じゃあ八時に会いましょう。", "長い一週間だったね。", "また教えてください。"},
			[]struct{ question, said string }{
				{"ペットは何を飼っていますか？", "ハムスターが夜中に脱走しました。"},
				{"どんな楽器が弾けますか？", "毎晩チェロを十時まで練習しています。"},
				{"どんなスポーツをしていますか？", "水曜の夜は卓球に通っています。"},
				{"何のアレルギーがありますか？", "ピーナッツを口にすると唇が腫れます。"},
			}},
	}
	for _, c := range talks {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			for i, s := range c.small {
				w.say(memory.Message{Speaker: "Vera", Content: s})
				for _, a := range c.asked[min(i, len(c.asked)):min(i+1, len(c.asked))] {
					w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("a%d", i)), Speaker: "Vera", Content: a.said})
				}
			}
			for _, a := range c.asked {
				got := textsOf(w.recall(alice, wire.RecallRequest{Query: a.question}).Items)
				if !slices.Contains(got[:min(2, len(got))], a.said) {
					t.Errorf("%q: got %q; expected %q among the first two", a.question, got[:min(4, len(got))], a.said)
				}
			}
		})
	}
}

// TestAClassWordLeavesOrdinaryAnswersFirst asks in words that ask for a class, too: what has the words of the question is
// found before things of the class.
func TestAClassWordLeavesOrdinaryAnswersFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question, said string
		things         []string
	}{
		{"Wann beginnt Lenas neue Arbeit?", "Lenas neue Arbeit beginnt am ersten Juni.",
			[]string{"Unser Bäcker war früher Lehrer.", "Die Ärztin und der Apotheker kennen sich.", "Mein Cousin wird Polizist oder Feuerwehrmann."}},
		{"¿Cuándo vino el perro a la familia?", "El perro llegó a la familia en marzo.",
			[]string{"Mi abuelo y mi tía discutieron.", "La prima de mi madre vive lejos.", "Su hermana y su cuñado vinieron tarde."}},
		{"Où est le manuel de l'appareil photo ?", "Le manuel de l'appareil photo est dans le tiroir.",
			[]string{"Le frigo et le four font du bruit.", "Ma tablette et mon casque sont morts.", "L'aspirateur a avalé la télé, ou presque."}},
		{"A che ora è la festa di Chiara?", "La festa di Chiara comincia alle nove.",
			[]string{"A Natale e a Pasqua piove sempre.", "Il compleanno è dopo il battesimo.", "Capodanno e carnevale passano in fretta."}},
		{"Quem pagou a comida do casamento?", "O tio Zeca pagou a comida do casamento.",
			[]string{"O frango com arroz queimou.", "Pizza e feijão de novo.", "Comprei queijo, ovos e batatas."}},
		{"Wie heeft de nieuwe stoelen betaald, die meubels?", "De meubels heeft oma betaald.",
			[]string{"De kast en het bed zijn te groot.", "Een lamp op de tafel.", "Het bureau staat naast de spiegel."}},
		{"Var köpte vi maten till festen?", "Maten till festen köpte vi på torget.",
			[]string{"Lax och potatis igen.", "Korv med ägg och lök.", "Soppan och brödet tog slut."}},
		{"Kto zapłacił za lekarstwo babci?", "Za lekarstwo babci zapłacił wujek.",
			[]string{"Syrop i maść stoją w szafce.", "Antybiotyk i witaminy rano.", "Aspiryna i tabletki się skończyły."}},
		{"Когда начинается работа в саду?", "Работа в саду начинается в апреле.",
			[]string{"Врач и медсестра ушли.", "Учитель стал юристом.", "Повар поругался с официантом."}},
		{"运动鞋放在哪里？", "运动鞋放在门口的柜子里。",
			[]string{"他喜欢足球和篮球。", "游泳和跑步都很累。", "周末去爬山和骑行。"}},
	} {
		t.Run(c.question, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			for i, s := range append(slices.Clone(c.things), c.said) {
				w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Session: memory.SessionID(fmt.Sprintf("s%d", i)), Speaker: "Vera", Content: s})
			}
			if got := textsOf(w.recall(alice, wire.RecallRequest{Query: c.question}).Items); len(got) == 0 || got[0] != c.said {
				t.Errorf("got %q; expected %q first", got, c.said)
			}
		})
	}
}

// TestAChineseMessageNextToAMatchIsFound finds an answer without a word of its question in a language without spaces.
func TestAChineseMessageNextToAMatchIsFound(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	for i, s := range []string{"今天真冷。", "修车的事情拖了一个月。", "明天早上八点送去老王那里。", "晚饭吃过了。", "好的。"} {
		w.say(memory.Message{ID: memory.MessageID(fmt.Sprintf("m%d", i)), Speaker: "Vera", Content: s})
	}
	if got := textsOf(w.recall(alice, wire.RecallRequest{Query: "修车的事情怎么样了？"}).Items); !slices.Contains(got, "明天早上八点送去老王那里。") || slices.Contains(got, "好的。") {
		t.Errorf("got %q; expected the message behind the match, and none that says nothing", got)
	}
}
