/**
 * The words of which the most common passwords consist, from what is known of published leaks:
 * keyboard rows, names, animals, teams, seasons, and the words of this trade. A password that
 * consists only of these, with any digits and signs between them, is among the first that are tried.
 */
const TEXT = `
aaa aaaa abc abcabc abcd abcde abcdef abcdefg abcdefgh abcdefghij access adgangskode admin
administrator ahmed alejandro alexander alexandra ali am amanda amazon amd america american and
andrea andrew android angel anna anthony antonio anything apollo apple april are arsenal asd
asdasd asdf asdfasdf asdfgh asdfghjkl ashley assassin asshole athena atlas audi august australia
autumn awesome azerty azertyuiop baby babyboy babygirl backup bad bailey banana barcelona
baseball basketball bastard batman bayern bear beatles believe bella berlin best big bird bitch
black blessed blink blue bmw bonjour boobs boss boston boxing brandon brazil brian brother buddy
bunny business buster butter butterfly california camaro canada candy carlos cat champion change
changeit changeme changethis charles charlie cheese chelsea cherry chicago chicken china
chocolate chris christ christopher church ciao cisco cloud cock coco coffee company computer
contrasena contrasenya cookie cookies cool corvette counterstrike cowboy cowboys crazy cricket
crystal daddy daisy dallas daniel dark darling database datacenter david debian december default
demo dennis dev developer development devil diablo diamond dick diego dmitri docker dog dollar
dolphin donald dragon drummer ducati duke eagle edc edward eight elizabeth eminem emma employee
energy england enterprise eric everything facebook faith falcon fall family father fatima
february felix fernando ferrari fire firewall first fish five florida flower flowers football for
force forever fortnite four france francisco freedom friday friend friends frodo fruehling fuck
fucker fuckoff fuckyou funny gabriel gamer gaming gandalf gantry garfield george germany ginger
github gitlab gladiator god godisgood gold golden golf good goofy google gpu grace gray green
guest guitar hack hacker hallo halo happy harley harry haslo heaven hell hello herbst hercules
hermione hero hockey hola honda honey hope horny horse houston hundred hunter hypervisor ice
iloveu iloveyou india instagram intel internet iphone is isabella it italy ivan jake james
january jasmine jason jazz jeff jennifer jessica jesus jesuschrist john jordan jose joseph joshua
juan julia july june justin juventus kevin killer king kitty kubernetes lakers laura legend leon
letme letmein letmeinnow lightning lily linux lion lisa little liverpool lkjhgf login london
losenord love lovely loveme lover loveyou lucas lucifer lucky lucy maggie magic mama manager
manchester march maria mario mark martin master matrix matthew maverick max maximilian may me
mercedes merlin metallica mexico mia michael michelle mickey microsoft midnight million mine
minecraft minnie mnbvcxz mohammed molly mommy monday money monkey moon motdepasse mother muhammad
music mustang my mysql naruto natalia natasha netflix network new newyork nicole night nine ninja
nirvana nissan no nokia not nothing november nvidia october office old olga oliver one open
opensesame operator oracle orange oscar panther papa paris parola parole pass passw passwd
password passwort patrick paul paypal peace peaches peanut pedro penis pepper peter phoenix piano
pikachu pink pirate pizza platinum playboy player please poiuy poiuytrewq pokemon pony porn
porsche postgres potter power prince princess private prod production project pumpkin puppy
purple pussy qaz qazwsx qazwsxedc queen qwe qweasd qweasdzxc qwer qwerty qwertyui qwertyuiop
qwertz qwertzuiop rabbit racing rafael rainbow ranger realmadrid red redis rich richard robert
roblox rock rocket rockstar rocky root rose roses router rugby running russia rusty salasana
samantha sammy samsung samurai sandra sarah satan saturday scooby sebastian second secret secure
security senha september sergey server service setup seven sex sexy shadow shark shit sifre
silver sister six slipknot smile smokey snake sniper snoopy soccer soldier something sommer sonic
sophia sophie spain spartan speed spider spiderman spring staff staging star starcraft starlight
stars startrek starwars steelers stefan steven storm strawberry success sugar summer sun sunday
sunflower sunset sunshine super superman support suzuki svetlana sweet sweetheart sweety swimming
system taylor team temp temporary ten tenant tennis tesla test tester testing texas thanks
thankyou the third thomas thousand three thunder thursday tiger tigger titan toby toyota trojan
trust trustme trustno tuesday turbo turtle twitter two ubuntu unicorn united user username
valentina victoria viking vladimir volkswagen wachtwoord warcraft warrior washington wednesday
welcome whatever white wifi william windows winner winter wizard wolf work worker wrestling wsx
xxx xxxx yamaha yankees yellow yes you your youtube zelda zero zeus zxc zxcv zxcvb zxcvbn zxcvbnm
`;

export const COMMON_WORDS: ReadonlySet<string> = new Set(TEXT.trim().split(/\s+/));
