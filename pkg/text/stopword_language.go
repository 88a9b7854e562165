package text

import "strings"

// IsFunctionWordIn reports whether ranking skips a folded word (IndexWord) of a question in a language: IsFunctionWord, and
// the articles, pronouns, prepositions, question words and auxiliaries of the language.
func IsFunctionWordIn(word string, l Language) bool {
	if own, ok := functionWordsIn[l]; ok {
		return own.Has(word)
	}
	return IsFunctionWord(word)
}

// functionWordsIn are the closed classes of words of languages besides English, folded.
var functionWordsIn = func() map[Language]WordSet {
	out := map[Language]WordSet{}
	for l, list := range map[Language]string{
		"de": `der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner ich du er sie es wir ihr mich mir
			dich dir sich uns euch ihn ihm ihnen mein meine meinen meinem meiner dein deine deinen deinem sein seine seinen seinem
			seiner ihre ihren ihrem ihrer unser unsere unseren euer eure dieser diese dieses diesen diesem jener jene jenes und oder
			aber denn weil dass wenn ob als wie wo wann warum wieso weshalb wer was wen wem wessen welche welcher welches welchen
			welchem wohin woher womit wofür worüber wovon woran wieviel viel viele in im ins am an auf aus bei beim bis durch für
			gegen mit nach ohne seit über um unter von vom vor zu zum zur zwischen bin bist ist sind seid war waren wäre gewesen
			habe hast hat haben hatte hatten werde wirst wird werden wurde wurden worden kann kannst können konnte muss müssen
			will wollen soll sollen darf mag möchte nicht nichts auch noch schon nur so da hier dort dann denn doch mal ja nein
			für etwas man sehr mehr`,
		"es": `el la los las un una unos unas lo de del al yo tú él ella usted nosotros vosotros ellos ellas ustedes me te se nos os le les
			mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta estos estas ese esa esos esas eso esto aquel aquella que
			qué quien quién quienes quiénes cual cuál cuales cuáles cuando cuándo donde dónde adonde adónde como cómo porque por
			cuanto cuánto cuánta cuántos cuántas para con sin sobre entre hasta desde hacia según y e o u pero sino si sí ni en a
			soy eres es somos son era eran fue fueron sido ser estoy estás está estamos están estaba estar he has ha hemos han había
			haber hay tengo tienes tiene tienen puedo puedes puede podemos pueden podía debo debe no ya muy más también`,
		"fr": `le la les un une des du de d l au aux je j tu il elle on nous vous ils elles me m te t se s moi toi lui leur leurs mon ma mes
			ton ta tes son sa ses notre nos votre vos ce c cet cette ces cela ça qui que qu quoi quel quelle quels quelles dont où
			quand pourquoi comment combien lequel laquelle et ou mais donc car parce si comme dans en sur sous avec sans pour par
			chez vers depuis pendant avant après entre suis es est sommes êtes sont étais était étaient été être ai as a avons avez
			ont avait avaient avoir eu peux peut pouvons pouvez peuvent pouvait dois doit ne n pas plus aussi très y`,
		"it": `il lo la i gli le l un uno una di del dello della dei degli delle al allo alla ai agli alle dal dalla dai nel nella nei nelle
			sul sulla io tu lui lei noi voi loro mi ti si ci vi me te mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro
			nostra questo questa questi queste quello quella quelli quelle che chi cosa quale quali quando dove come perché quanto
			quanta quanti quante e ed o ma se anche per con senza su tra fra da in a sono sei è siamo siete era erano essere stato
			stata ho hai ha abbiamo avete hanno aveva avere posso puoi può possiamo potete possono devo devi deve non più molto c dov cos`,
		"pt": `o a os as um uma uns umas de do da dos das no na nos nas ao à aos às pelo pela num numa eu tu você ele ela nós vocês eles elas
			me te se lhe meu minha meus minhas teu tua seu sua seus suas nosso nossa este esta estes estas esse essa isso isto aquele
			aquela que quem qual quais quando onde aonde como porque porquê quanto quanta quantos quantas por para com sem sobre entre
			até desde e ou mas se nem em sou és é somos são era eram foi ser estou está estamos estão estava estar tenho tens tem temos
			têm tinha há posso pode podes podemos podem devo deve não já muito mais também`,
		"nl": `de het een ik jij je hij zij ze wij we jullie mij me jou hem haar ons hun mijn jouw uw zijn onze en of maar want omdat dat als
			dan wie wat waar wanneer waarom hoe hoeveel welk welke waarheen waarmee in op aan bij van voor met zonder naar uit over
			onder tot tegen door sinds te ben bent is was waren geweest heb hebt heeft hebben had hadden word wordt worden werd kan
			kunnen moet wil zal mag niet niets geen ook nog al er daar hier die deze dit zo dan`,
		"sv": `och att det som en ett den de jag du han hon vi ni dem mig dig oss er sig min mitt mina din ditt dina sin sitt sina vår vårt våra
			hans hennes deras i på av för med till från om under över utan hos vid mot efter före är var varit vara har hade ha kan
			ska vill inte också nu här där men eller eftersom när vad vem vilka vilken vilket hur varför vart blir blev`,
		"da": `og at det som en et den de jeg du han hun vi i dem mig dig os jer sig min mit mine din dit dine sin sit sine vores deres hans
			hendes på af for med til fra om under over uden hos ved mod efter før er var været være har havde have kan skal vil ikke
			også nu her der men eller fordi når hvad hvem hvor hvordan hvorfor hvilken hvilke hvilket hvornår bliver blev`,
		"nb": `og at det som en et ei den de jeg du han hun vi dere dem meg deg oss seg min mitt mine din ditt dine sin sitt sine vår vårt våre
			deres hans hennes i på av for med til fra om under over uten hos ved mot etter før er var vært være har hadde ha kan skal
			vil ikke også nå her der men eller fordi når hva hvem hvor hvordan hvorfor hvilken hvilke hvilket blir ble`,
		"fi": `ja on ei se en minä sinä hän me te he minun sinun hänen meidän teidän heidän olen olet ole olemme olette ovat oli olin olivat
			ollut että mutta tai kun jos koska kuin mikä mitä missä mistä mihin milloin miksi kuka kenen ketä miten millainen joka
			jotka myös vielä tämä nämä`,
		"hu": `a az egy és vagy de hogy én te ő mi ti ők ez azt ezt nem is van vannak volt voltak lesz ki kit kinek mi mit mikor hol hova
			honnan miért hogyan milyen melyik mennyi hány meg már még csak`,
		"tr": `ve ile bir bu şu o ben sen biz siz onlar benim senin onun bizim da de mi mı mu mü ne kim kimin nerede nereye nereden nasıl
			neden niçin hangi kaç için gibi ama çok daha var yok değil`,
		"ro": `și sau dar că un o al a ai ale el ea eu tu noi voi ei ele îmi îți își mă te se mi ți i lui lor meu mea tău ta său sa de la în cu
			pe pentru din fără este e sunt era fost am ai are au avut nu cine ce care când unde cum cât câți de`,
		"ru": `и в во на не я ты он она оно мы вы они меня тебя его её ее нас вас их мне тебе ему ей нам вам им мной тобой ним ней ними мой моя
			моё мои моего моей твой твоя твои свой своя свои своего своей наш наша наши ваш ваша ваши этот эта это эти тот та то те что
			чего чему чем чём кто кого кому кем где куда откуда когда почему зачем как какой какая какое какие какого какую каком каким
			сколько чей чья чьи который которая которое которые каких какими которого которой которых которым могу можешь может можем могут
			можно с со к ко у о об от до из за по под над при для без через после перед
			между или но а же ли бы если так там тут здесь был была было были быть есть нет уже ещё еще тоже очень только да ни`,
		"pl": `i w we na nie ja ty on ona ono my wy oni one mnie ciebie jego jej nas was ich mi ci mu nam wam im mój moja moje twój twoja swój
			swoja ten ta to te że co kogo komu kto kim czego czym gdzie dokąd skąd kiedy dlaczego jak jaki jaka jakie jaką ile czyj
			który która które jakich jakim jakimi jakiej jakiego którego której których którym mogę możesz może możemy mogą można
			z ze do od o u po pod nad przy dla bez przez lub ale a czy jest są był była było byli być się już też`,
	} {
		set := WordSet{}
		for w := range strings.FieldsSeq(list) {
			EachIndexWord(w, func(f IndexWord) { set[string(f.Folded)] = struct{}{} })
		}
		out[l] = set
	}
	return out
}()
