package text

// languageWords are the words by which a language is known: articles, pronouns, prepositions, auxiliaries, and the verbs
// and nouns that people use most of themselves. A word that several languages have counts less for each.
var languageWords = map[Language]string{
	English: `the a an this that these those my your his her its our their mine yours i i'm i've i'll i'd im ive me myself you you're
		he she it it's we we're us they them who what when where why how which of in on at to for from with without about into
		over under after before by as than and or but so because if while until is are was were be been being am isn't aren't
		wasn't don't doesn't didn't dont didnt do does did have has had haven't can can't cant cannot will won't would could
		should may might must not no yes very just really also too never always still already only all some any every each
		many much more most other another new old good great first last next today tomorrow yesterday week month year day wake woke
		morning night time home work live lives lived like likes love want need think know go going went got get getting make
		made take took come came see saw said say says tell told there here then now back out up down off again
		house car dog cat friend family mother mom dad father sister brother wife husband son daughter name number birthday
		job school people thing something anything everyone please thanks thank hello never two three four five six seven
		eight nine ten called bought moved started sold lost found keep use using call eat drink drive read play run allergic
		care hang hold moment such place sounds sure sense while having being still yeah hey own taking believe
		favorite favourite prefer hate enjoy phone address code email meeting weekend monday tuesday wednesday thursday friday
		saturday sunday january february march april june july august september october november december`,
	"de": `welche welcher welches welchen welchem wohin woher wieso womit statt
		der die das den dem des ein eine einen einem einer eines kein keine keinen ich du er sie es wir ihr mich mir dich dir uns
		euch ihn ihm ihnen mein meine meinen meinem meiner dein deine seine ihre unser unsere und oder aber denn weil dass wenn
		ob als wie wo wann warum wer was im in am an auf aus bei beim bis durch für gegen mit nach ohne seit über um unter
		von vom vor zu zum zur zwischen bin bist ist sind seid war waren habe hast hat haben hatte hatten werde wird werden
		wurde kann kannst können muss müssen will wollen soll möchte mag darf nicht nichts nie immer noch schon nur auch sehr
		mehr gern gerne heute morgen gestern jetzt hier da dort dann so doch mal ja nein wohne wohnt arbeite arbeitet heiße
		heißt fahre fährt gehe geht komme kommt mache macht trinke esse spiele lerne kaufe gekauft gewesen jahr jahre woche
		monat tag uhr januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag
		sonntag hallo danke bitte guten alles gut sich man hab isst liebe mutter vater schwester bruder freund freundin`,
	"nl": `juni juli oktober welke welk hoeveel waarheen
		de het een ik jij je hij zij ze wij we jullie mij me jou hem haar ons hun mijn jouw zijn onze en of maar want omdat dat als
		dan wie wat waar wanneer waarom hoe in op aan bij van voor met zonder naar uit over onder tot tegen door sinds ben bent is
		was waren heb hebt heeft hebben had hadden word wordt worden kan kunnen moet moeten wil willen zal zullen mag niet niets
		geen nooit altijd nog al ook heel erg meer graag vandaag morgen gisteren nu hier daar er ja nee woon woont werk werkt
		heet ga gaat kom komt doe doet drink eet speel vind vriend vriendin moeder vader zus broer jaar week maand dag uur
		maandag dinsdag woensdag donderdag vrijdag zaterdag zondag maart mei augustus dank bedankt goed deze die dit naar jarig`,
	"sv": `oktober vilka vilken vilket vart
		och att det som en ett den de jag du han hon vi ni dem mig dig oss er min mitt mina din ditt sin sitt sina vår vårt våra
		hans hennes deras i på av för med till från om under över utan hos vid mot efter före är var varit vara har hade kan kunde
		ska skulle vill ville måste får fick inte aldrig alltid också mycket mer bara nu här där idag igår imorgon men eller
		eftersom när vad vem hur varför ja nej bor jobbar arbetar heter gillar tycker åker går kommer gör äter dricker köpte
		år vecka månad dag måndag tisdag onsdag torsdag fredag lördag söndag mars maj juni juli augusti tack hej bra mamma pappa
		syster bror vän barn`,
	"da": `januar februar oktober hvilken hvilke hvilket hvornår
		og at det som en et den de jeg du han hun vi i dem mig dig os jer min mit mine din dit sin sit sine vores deres hans hendes på
		af for med til fra om under over uden hos ved mod efter før er var været være har havde kan kunne skal skulle vil ville må
		måtte ikke aldrig altid også meget mere kun nu her der idag dag går morgen men eller fordi når hvad hvem hvor hvordan
		hvorfor ja nej bor arbejder hedder kan lide synes rejser kommer gør spiser drikker købte år uge måned mandag tirsdag onsdag
		torsdag fredag lørdag søndag marts maj juni juli tak hej godt mor far søster bror ven hverken blev bliver`,
	"nb": `januar februar oktober hvilken hvilke hvilket
		og at det som en et ei den de jeg du han hun vi dere dem meg deg oss min mitt mine din ditt sin sitt sine vår vårt våre deres
		hans hennes i på av for med til fra om under over uten hos ved mot etter før er var vært være har hadde kan kunne skal skulle
		vil ville må måtte ikke aldri alltid også veldig mye mer bare nå her der i dag går morgen men eller fordi når hva hvem hvor
		hvordan hvorfor ja nei bor jobber heter liker synes reiser kommer gjør spiser drikker kjøpte år uke måned mandag tirsdag
		onsdag torsdag fredag lørdag søndag mars mai juni juli takk hei bra mamma pappa søster bror venn ble blir`,
	"fi": `ja on ei se en minä sinä hän me te he minun sinun hänen meidän teidän heidän minut sinut minulla sinulla hänellä meillä mun
		mä sä olen olet olemme olette ovat oli olin olivat ollut ole että mutta tai kun jos koska kuin mikä mitä missä milloin
		miksi kuka miten joka jotka myös vielä vain nyt tänään eilen huomenna aina koskaan hyvin paljon enemmän kanssa ilman
		jälkeen ennen asun asuu pidän pitää tykkään menen menee tulen tulee teen tekee syön juon ostin muutin minua minulle
		siellä täällä tämä nämä kyllä kiitos hei vuosi viikko kuukausi päivä maanantaina tiistaina keskiviikkona torstaina
		perjantaina lauantaina sunnuntaina äiti isä sisko veli ystävä nimeni olisi voin voi pitäisi haluan`,
	"fr": `désormais dorénavant pourrais pourriez pourrait voudrais quel quelle quels quelles combien lequel laquelle qu'est-ce qu'a qu'as qu'ont cherche cherchent boit
		le la les un une des du de d'un d'une je j'ai tu il elle on nous vous ils elles me te se moi toi lui leur mon ma mes ton ta tes
		son sa ses notre nos votre vos leurs ce cet cette ces qui que quoi dont où quand pourquoi comment et ou mais donc car parce si
		comme dans en sur sous avec sans pour par chez vers depuis pendant avant après entre jusqu'à suis es est sommes êtes sont étais
		était c'est ai as a avons avez ont avait été être avoir vais va allons vont fais fait peux peut veux veut dois doit ne pas
		n'ai n'est plus jamais toujours aussi très bien encore déjà aujourd'hui demain hier maintenant ici là oui non j'habite habite à
		j'aime aime travaille mange bois achète acheté l'année an ans année semaine mois jour jours heures lundi mardi mercredi jeudi
		vendredi samedi dimanche janvier février mars avril mai juin juillet août septembre octobre novembre décembre merci bonjour
		mère père sœur frère ami amie m'appelle au aux qu'il qu'elle s'appelle`,
	"es": `dos tres cinco siete diez pasado pasada próximo próxima hijo hija hijos tío tía abuelo abuela dentro
		cuál cuáles cuales cuánto cuánta cuántos cuántas adónde
		el la los las un una unos unas lo de del al yo tú él ella usted nosotros vosotros ellos ellas ustedes me te se nos os le les mi
		mis tu tus su sus nuestro nuestra mío mía este esta estos estas ese esa eso aquel que qué quien quién cual cuándo cuando dónde
		donde cómo como por porque para con sin sobre entre hasta desde hacia según y e o u pero sino si ni en a soy eres es somos son
		estoy estás está estamos están era fue fui he has ha hemos han había tengo tienes tiene tenemos tienen hay voy va vamos van
		hago hace puedo puede quiero quiere debo no nunca siempre también tampoco muy más menos mucho mucha ya todavía aún hoy mañana
		ayer ahora aquí allí sí vivo vive trabajo trabaja gusta gustan encanta como bebo compré compro llamo llama año años semana mes
		día días lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre
		octubre noviembre diciembre gracias hola bueno buenos buenas madre padre hermana hermano amigo amiga casa conmigo`,
	"pt": `agosto dois duas três sete dez passado passada próximo próxima filho filha filhos tio tia avô avó dentro
		quais quanto quanta quantos quantas aonde
		o a os as um uma uns umas de do da dos das no na nos nas ao à aos às pelo pela num numa eu tu você ele ela nós vocês eles elas me
		te se lhe meu minha meus minhas teu tua seu sua nosso nossa este esta esse essa isso isto aquele que quem qual quando onde
		como porque por para pra com sem sobre entre até desde e ou mas se nem em sou és é somos são estou está estamos estão era foi
		fui tenho tens tem temos têm tinha há vou vai vamos vão faço faz posso pode quero quer devo não nunca sempre também muito
		muita mais menos já ainda hoje amanhã ontem agora aqui ali sim moro mora vivo trabalho trabalha gosto gosta comi comprei
		chamo chama ano anos semana mês dia dias segunda terça quarta quinta sexta sábado domingo janeiro fevereiro março abril maio
		junho julho setembro outubro novembro dezembro obrigado obrigada olá bom boa mãe pai irmã irmão amigo amiga casa mudei`,
	"it": `agosto quali quanto quanta quanti quante
		il lo la i gli le un uno una di del dello della dei degli delle al allo alla ai agli alle dal dalla dai nel nella nei nelle sul
		sulla io tu lui lei noi voi loro mi ti si ci vi me te mio mia miei mie tuo tua suo sua nostro nostra questo questa quello
		quella che chi cosa quale quando dove come perché e ed o ma se anche per con senza su tra fra da in a sono sei è siamo siete
		era ero stato stata ho hai ha abbiamo avete hanno avevo aveva vado va andiamo vanno faccio fa posso può voglio vuole devo deve
		non mai sempre molto molta più meno già ancora oggi domani ieri adesso ora qui lì sì abito abita vivo vive lavoro lavora piace
		piacciono mangio bevo comprato chiamo chiama anno anni settimana mese giorno giorni lunedì martedì mercoledì giovedì venerdì
		sabato domenica gennaio febbraio marzo aprile maggio giugno luglio settembre ottobre novembre dicembre grazie ciao buon
		buona madre padre sorella fratello amico amica casa c'è dell'anno l'anno po'`,
	"ca": `abril octubre novembre el la els les un una uns unes de del dels al als jo tu ell ella nosaltres vosaltres ells em et es ens us meu meva teva seva
		aquest aquesta això que què qui quan on com per perquè amb sense sobre entre fins des i o però si ni en a soc sóc ets és som són
		estic està era vaig va anar he has ha hem han tinc té tenim fer puc pot vull vol no mai sempre també molt més avui demà ahir
		ara aquí visc viu treballo agrada any anys setmana mes dia gràcies hola bon dilluns dimarts dimecres dijous divendres meus`,
	"ro": `un o unei unui și sau dar pentru că să ca nu este sunt ești suntem era am ai are avem au eu tu el ea noi voi ei ele mă te se ne
		vă îmi îți îi mea meu mei tău ta său sa nostru noastră acest această care ce cine când unde cum de la în din pe cu fără
		despre între până după locuiesc lucrez place merg vreau pot trebuie foarte mai mult azi astăzi mâine ieri acum aici da mereu
		niciodată și-a anul ani săptămână lună zi luni marți miercuri joi vineri sâmbătă duminică mulțumesc bună mama tata sora
		fratele prieten`,
	"pl": `i w we z ze na do od po za przez dla o u przy pod nad przed między bez jest są był była było byli być jestem jesteś jesteśmy mam
		masz ma mamy mają ja ty on ona ono my wy oni mnie mi ciebie ci jego jej nam nas im ich się siebie mój moja moje mojego mojej
		moim twój swój nasz nie nigdy zawsze też także bardzo już jeszcze tylko co kto gdzie kiedy jak dlaczego który która które że
		żeby bo ale lub czy gdy jeśli dziś dzisiaj jutro wczoraj teraz tu tam tak mieszkam mieszka mieszkają pracuję pracuje lubię
		lubi jadę idę robię kupiłem kupiłam chcę mogę muszę rok roku lat tydzień miesiąc dzień poniedziałek wtorek środa czwartek
		piątek sobota niedziela dziękuję cześć dobry mama tata siostra brat przyjaciel nazywam`,
	"cs": `a i v ve z ze s se na do od po za pro o u při pod nad před mezi bez je jsou byl byla bylo být jsem jsi jsme jste mám máš má máme
		mají já ty on ona my vy oni mě mi tě ti ho mu ji nás vás jim jich si můj moje mého mojí mé tvůj svůj náš ne není nikdy vždy
		taky také velmi už ještě jen co kdo kde kdy jak proč který která které že aby protože ale nebo když jestli dnes zítra včera
		teď tady tam ano bydlím bydlí pracuji pracuje ráda rád mám jedu jdu dělám koupil koupila chci můžu musím rok roku let týden
		měsíc den pondělí úterý středa čtvrtek pátek sobota neděle děkuji ahoj dobrý máma táta sestra bratr kamarád jmenuji`,
	"sk": `a aj v vo z zo s so na do od po za pre o u pri pod nad pred medzi bez je sú bol bola bolo byť som si sme ste mám máš má máme majú
		ja ty on ona my vy oni ma mi ťa ti ho mu ju nás vás im ich sa môj moja moje nie nikdy vždy tiež veľmi už ešte len čo kto kde
		kedy ako prečo ktorý ktorá že aby lebo ale alebo keď ak dnes zajtra včera teraz tu tam áno bývam býva pracujem rád rada idem
		robím kúpil kúpila chcem môžem musím rok roku rokov týždeň mesiac deň ďakujem ahoj dobrý mama otec sestra brat volám`,
	"hr": `i u na s sa za od do po iz o pri bez između je su bio bila bilo biti sam si smo ste nisam nije imam imaš ima imamo imaju ja ti on
		ona mi vi oni me te ga mu je nas vas im ih se moj moja moje tvoj svoj naš ne nikad uvijek uvek također vrlo već još samo što
		šta tko ko gdje gde kada kako zašto koji koja koje da jer ali ili kad ako danas sutra jučer juče sada tu tamo živim živi
		radim volim idem kupio kupila želim mogu moram godina godine tjedan mjesec dan hvala bok dobro mama tata sestra brat zovem`,
	"sl": `in v na s z za od do po iz o pri brez med je so bil bila bilo biti sem si smo ste nisem ni imam imaš ima imamo imajo jaz ti on ona
		mi vi oni me te ga mu jo nas vas jim jih se moj moja moje tvoj svoj naš ne nikoli vedno tudi zelo že še samo kaj kdo kje kdaj
		kako zakaj ki da ker ampak ali ko če danes jutri včeraj zdaj tukaj tam živim stanujem delam rad rada imam grem kupil želim
		lahko moram leto let teden mesec dan hvala živjo dobro mama oče sestra brat`,
	"hu": `a az egy és vagy de hogy mert ha mint nem igen is csak már még most itt ott ez ezt azt én te ő mi ti ők engem téged minket nekem
		neked neki vagyok vagy van vagyunk vannak volt voltam lesz lenne kell lehet szeretem szeretek szereti lakom lakik élek dolgozom
		megyek jövök csinálok veszek vettem ettem iszom ma tegnap holnap mindig soha nagyon több hol mikor miért hogyan ki mi milyen
		melyik év éves hét hónap nap hétfőn kedden szerdán csütörtökön pénteken szombaton vasárnap köszönöm szia jó anyám apám
		testvérem barátom nevem`,
	"tr": `ve bir bu şu o ben sen biz siz onlar beni seni bana sana ona bize benim senin onun bizim sizin onların mi mı mu mü de da ki ile
		için gibi kadar göre sonra önce ama veya çünkü eğer değil var yok çok az daha en her hiç hep asla bugün yarın dün şimdi burada
		orada evet hayır ne kim nerede zaman neden nasıl hangi yaşıyorum oturuyorum çalışıyorum seviyorum severim gidiyorum geliyorum
		istiyorum aldım gittim yıl hafta ay gün pazartesi salı çarşamba perşembe cuma cumartesi pazar teşekkürler merhaba annem babam
		kardeşim arkadaşım adım olarak olan`,
	"id": `mei juni juli oktober yang dan di ke dari untuk dengan pada ini itu tidak bukan ada adalah akan sudah telah belum sedang saya aku kamu anda dia kami
		kita mereka nya juga atau tetapi tapi karena jika kalau bahwa sebagai oleh seperti lebih sangat sekali hari besok kemarin
		sekarang sini sana apa siapa dimana kapan mengapa kenapa bagaimana berapa tinggal kerja bekerja suka pergi makan minum mau ingin
		bisa harus tahun minggu bulan terima kasih selamat ibu ayah kakak adik teman rumah nama`,
	"vi": `tôi bạn anh chị em chúng ta họ là và của có không được cho với trong ở từ đến này đó những các một hai đã đang sẽ rất cũng nhưng
		hoặc vì nếu khi như người năm tháng ngày tuần hôm nay mai qua thích sống làm việc đi ăn uống muốn phải gì ai đâu sao mẹ bố`,
	"et": `ja on ei see ma mina sa sina ta tema me meie te nad minu sinu mulle sulle mul sul olen oled oleme olid oli olin ole et aga või kui
		sest nagu mis kus millal miks kes kuidas ka veel ainult nüüd täna eile homme alati kunagi väga palju rohkem koos ilma pärast
		enne elan töötan meeldib lähen tulen teen söön ostsin aasta nädal kuu päev aitäh tere ema isa õde vend sõber`,
	"lt": `ir yra ne tai aš tu jis ji mes jūs jie mano tavo jo jos mane man tau esu esi buvo buvau kad bet arba kai jei nes kaip kas kur kada
		kodėl taip pat dar tik dabar šiandien vakar rytoj visada niekada labai daugiau su be po prieš iš į ant gyvenu dirbu mėgstu
		einu noriu galiu metai metų savaitė mėnuo diena ačiū labas mama tėtis sesuo brolis draugas`,
	"lv": `un ir nav tas es tu viņš viņa mēs jūs viņi mans mana tavs man tev esmu esi bija biju ka bet vai kad ja jo kā kas kur kāpēc arī vēl
		tikai tagad šodien vakar rīt vienmēr nekad ļoti vairāk ar bez pēc pirms no uz dzīvoju strādāju patīk eju gribu varu gads
		gada nedēļa mēnesis diena paldies sveiki mamma tētis māsa brālis draugs`,
	"tl": `ang ng mga sa na ay at ako ikaw ka siya kami tayo kayo sila ko mo niya namin natin ninyo nila akin aking iyo iyong ito iyan iyon
		hindi wala may mayroon si ni kay para dahil kung pero o kasi din rin lang na po opo ngayon bukas kahapon nakatira gusto
		mahal pumunta kumain salamat taon araw linggo buwan`,
	"sw": `ya wa na ni kwa la za katika hii huu hiyo yangu langu wangu yako wako yake wake mimi wewe yeye sisi ninyi wao ninaishi naishi napenda
		ninapenda nina ana tuna si sio hapana ndiyo leo kesho jana sasa sana lakini au kama kwamba mwaka siku wiki mwezi asante habari jina`,
	"ga": `agus an na ar ag is tá bhí níl mé tú sé sí muid sibh siad mo do a ár mbliana inniu amárach inné seo sin go le ó faoi chun`,
	"is": `og að er það sem í á ég þú hann hún við þið þeir mig mér þig þér minn mín mitt þinn sinn ekki aldrei alltaf líka mjög meira bara nú
		hér þar dag gær morgun en eða því þegar hvað hver hvar hvernig já nei bý vinn heiti með til frá um undir yfir án eftir var hef
		hefur hafa get vil ár vika mánuður takk halló mamma pabbi systir bróðir vinur`,
}
