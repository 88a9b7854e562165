package rank

import "strings"

// class is a kind of things. A question names the class, an answer names the thing: asked about pets, people speak of a
// cat.
type class struct {
	asked string // words by which questions name the class
	named string // words for things of the class
}

// classOf maps a folded word of a question to the classes it asks for, by their place in classes.
var classOf = func() map[string][]int {
	m := map[string][]int{}
	for i, c := range classes {
		for _, w := range strings.Fields(c.asked) {
			m[w] = append(m[w], i)
		}
	}
	return m
}()

// thingsOf returns the words for things of the classes that the folded words of a question ask for, each once, in the
// order of the classes; nil if it asks for none.
func thingsOf(words []string) []string {
	asked := make([]bool, len(classes))
	for _, w := range words {
		for _, c := range classOf[w] {
			asked[c] = true
		}
	}
	var out []string
	seen := map[string]bool{}
	for i, c := range classes {
		if !asked[i] {
			continue
		}
		for _, w := range strings.Fields(c.named) {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// classes hold everyday words of general English, about fifty a class: those that most people would name first.
var classes = []class{
	{"country countries nation nations abroad where travel traveled travelled", `america usa us canada mexico cuba brazil argentina chile peru colombia
		england britain uk scotland wales ireland france spain portugal italy germany austria switzerland netherlands holland belgium
		denmark norway sweden finland iceland poland hungary romania greece turkey ukraine russia croatia egypt morocco tunisia
		kenya nigeria ghana ethiopia israel jordan iran iraq india pakistan nepal china japan korea taiwan thailand vietnam
		malaysia singapore indonesia philippines australia zealand europe asia africa`},
	{"city cities town towns where visit visited travel traveled travelled", `york angeles chicago houston boston seattle miami dallas austin denver vegas francisco diego
		philadelphia phoenix atlanta portland orleans washington toronto vancouver montreal london paris rome milan venice florence
		madrid barcelona lisbon berlin munich hamburg vienna prague budapest warsaw amsterdam brussels copenhagen stockholm oslo
		dublin edinburgh athens istanbul moscow tokyo kyoto beijing shanghai seoul bangkok delhi mumbai dubai sydney melbourne
		cairo downtown`},
	{"state states", `alabama alaska arizona arkansas california colorado connecticut delaware florida georgia hawaii idaho illinois indiana
		iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska
		nevada jersey york carolina dakota ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia washington
		wisconsin wyoming`},
	{"place places location locations area areas destination destinations where trip trips vacation vacations holiday holidays visit visited", `beach lake sea
		ocean river coast shore island mountain mountains hill forest woods park garden desert canyon valley waterfall museum
		gallery castle palace temple cathedral church cafe restaurant bar mall market hotel hostel village countryside resort
		campsite farm zoo aquarium stadium theater library`},
	{"instrument instruments", `piano guitar violin viola cello bass drums drum flute clarinet saxophone sax trumpet trombone harp ukulele banjo keyboard
		harmonica accordion oboe fiddle mandolin organ recorder`},
	{"music genre genres band bands artist artists musician musicians singer singers concert concerts", `rock pop jazz classical country folk blues rap
		hip metal punk soul reggae techno electronic indie opera orchestra choir singer band song album concert gig`},
	{"sport sports athletic athlete exercise exercises workout workouts fitness train training", `basketball football soccer baseball tennis volleyball
		hockey golf rugby cricket badminton boxing wrestling karate judo swimming swim running run jogging jog cycling biking bike
		surfing surf skiing ski snowboarding skating climbing rowing kayaking yoga pilates gym weights weightlifting cardio
		marathon gymnastics dancing fencing softball lacrosse sailing diving archery aerobics`},
	{"activity activities hobby hobbies pastime pastimes interest interests recreation leisure fun free unwind relax destress stress relieve", `hiking hike
		hikes camping camp swimming swim running run walking walk walks jogging biking cycling fishing hunting surfing skiing
		climbing kayaking gardening reading read painting paint drawing draw pottery knitting sewing crafts photography cooking
		cook baking bake dancing dance singing yoga meditation meditate gaming games chess puzzles movies music guitar piano
		writing journaling volunteering traveling shopping picnic sports bowling skating theater`},
	{"pet pets animal animals", `dog dogs puppy puppies pup pups cat cats kitten kittens kitty fish goldfish hamster rabbit bunny parrot bird birds
		turtle turtles tortoise snake lizard gecko horse horses pony pig cow sheep goat chicken duck ferret frog bear deer fox wolf
		lion tiger elephant monkey dolphin whale shark bee butterfly`},
	{"family relative relatives parent parents child children kid kids sibling siblings", `mom mum mother dad father parents wife husband son daughter sons
		daughters kids kid child children brother sister brothers sisters siblings grandma grandpa grandmother grandfather aunt uncle
		cousin cousins nephew niece baby twins family stepson stepdaughter`},
	{"food foods dish dishes meal meals recipe recipes cuisine cuisines snack snacks cook cooks cooked bake bakes baked eat eats diet ingredient ingredients", `bread
		rice pasta spaghetti lasagna noodles ramen pizza burger sandwich taco tacos burrito sushi salad soup stew curry steak
		chicken beef pork bacon ham turkey lamb fish salmon tuna shrimp egg eggs cheese tofu beans potato potatoes fries vegetables
		veggies tomato garlic onion mushrooms avocado fruit apple banana berries chocolate cake cookies muffins pie pancakes waffles
		dessert sauce casserole bbq roast oatmeal yogurt`},
	{"dessert desserts sweets sweet treat treats bake bakes baked", `cake cakes cupcakes cookies cookie brownies muffins pie pudding cream sorbet pancakes
		waffles donuts candy chocolate vanilla cheesecake tart caramel mousse honey`},
	{"drink drinks beverage beverages", `coffee tea water juice soda beer wine cocktail milk smoothie latte espresso lemonade whiskey vodka champagne`},
	{"job jobs career careers profession professions occupation work works role roles position living employment", `teacher doctor nurse engineer lawyer
		chef cook waiter waitress barista manager accountant banker cashier driver pilot actor actress writer author artist
		musician dancer designer developer programmer scientist researcher journalist photographer counselor therapist psychologist
		coach trainer firefighter officer police soldier clerk secretary assistant intern internship boss office company firm
		business startup hired fired promoted promotion`},
	{"art arts artwork craft crafts creative", `painting paintings painted paint drawing drawings draw sketch sketches sculpture sculptures pottery ceramics
		portrait watercolor canvas photography collage mural knitting embroidery sewing poem poems poetry`},
	{"clothing clothes outfit outfits wear wears accessories", `shirt skirt dress pants jeans shorts jacket coat hoodie sweater suit shoes sneakers boots sandals
		hat cap scarf gloves socks tie belt necklace bracelet earrings ring watch sunglasses`},
	{"item items object objects bought buy buys purchase purchased purchases gift gifts present presents collect collects own owns", `bought purchased ordered
		got gift present shoes dress jacket necklace bracelet ring watch book books toy toys lamp rug couch chair phone laptop
		camera car bike guitar painting poster tickets collection`},
	{"vehicle vehicles car cars transport transportation", `car truck van suv bus train plane flight bike bicycle motorcycle scooter boat ship ferry taxi toyota
		honda ford bmw tesla`},
	{"color colors colour colours", `red blue green yellow orange purple pink black white brown gray grey gold silver violet turquoise beige blonde`},
	{"health illness illnesses disease diseases injury injuries injured medical problem problems condition conditions symptom symptoms", `sick flu cold cough fever
		headache migraine pain allergy allergies allergic asthma diabetes cancer surgery hospital doctor injury injured hurt broke
		broken sprained ankle knee back anxiety depression diagnosed medicine medication therapy`},
	{"feeling feelings feel feels emotion emotions mood", `happy sad angry excited nervous anxious scared proud grateful thankful stressed upset lonely overwhelmed
		relieved disappointed frustrated worried inspired joy`},
	{"event events attend attended participate participated participates", `parade festival concert wedding party conference convention workshop fair race marathon
		tournament competition contest ceremony exhibition exhibit show meetup gathering fundraiser rally protest retreat reunion
		seminar meeting speech talk performance premiere`},
	{"study studies studied subject subjects major degree education course courses class classes school", `math physics chemistry biology history literature english
		psychology sociology economics business law medicine engineering computer science philosophy art music nursing university
		college school class classes course degree exam thesis homework major semester`},
	{"volunteer volunteering charity charities cause causes community", `shelter charity donate donated donation fundraiser raise raised homeless kitchen volunteer
		volunteered volunteering mentor mentoring cleanup supplies veterans`},
	{"device devices technology gadget gadgets electronics", `phone laptop computer tablet camera console tv headphones speaker printer drone robot monitor app playstation
		xbox nintendo pc`},
	{"plant plants flower flowers", `rose roses tulip tulips lily lilies sunflower sunflowers daisy orchid cactus succulent succulents tree trees herbs basil tomatoes
		lavender fern`},
	{"weather disaster disasters", `rain rained raining snow snowed storm hurricane flood flooding tornado earthquake wildfire heatwave drought sunny windy fog`},
	{"relationship married dating partner romantic", `single married divorced divorce engaged dating boyfriend girlfriend husband wife partner wedding breakup broke
		fiance widow`},
	{"religion religious faith belief beliefs", `church god pray prayer prayed bible mosque temple faith christian catholic muslim jewish buddhist hindu baptist`},
	{"language languages", `english spanish french german italian portuguese russian chinese mandarin japanese korean arabic hindi turkish latin greek dutch swedish
		polish`},
	{"game games gaming", `chess poker monopoly scrabble cards puzzle mario zelda pokemon minecraft fortnite console playstation xbox nintendo tournament`},
	{"room rooms furniture", `kitchen bedroom bathroom garage basement balcony backyard couch sofa table chair bed desk lamp rug shelf`},
	{"appearance look looks hairstyle cosmetic cosmetics beauty", `hair blonde brunette curly bangs haircut beard tattoo tall makeup lipstick mascara skin skincare cream
		lotion shampoo nails glasses`},
	{"award awards achievement achievements accomplishment accomplishments", `won award medal trophy prize champion championship winner record graduated certificate scholarship
		promoted published`},
}
