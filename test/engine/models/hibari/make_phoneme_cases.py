"""Writes phoneme-cases-{us,gb}.json.gz: own lines with the phonemes that the package hibari-tts gives them.

    pip install hibari-tts==0.2.1 && python make_phoneme_cases.py

The lines are made here, from own words and patterns, always the same ones. The package's normaliser is off, because
the gateway's runs before an engine sees a text.
"""
import gzip, itertools, json, os, random

from hibari.g2p import G2P

HERE = os.path.dirname(os.path.abspath(__file__))
LINES = 1400

FIRST = "Anna Boris Siobhan Nguyen Łukasz José Aoife Zoë Xiomara D'Angelo Jean-Luc Oluwaseun Kwame Mehmet Björn".split()
LAST = "Smith O'Brien McAllister van Dyke Okonkwo Müller Szczepański de la Cruz Featherstonehaugh Patel Yılmaz".split()
PLACES = "Springfield Worcester Llanelli Albuquerque Reykjavík Leicester Phoenix Edinburgh Tucson Gloucestershire".split()
PRODUCTS = ["Trunkline", "iPhone", "QuickBooks", "PowerPoint", "eBay", "YouTube", "GitHub", "B2B", "A380", "COVID-19",
            "MP3", "4G", "Wi-Fi", "Flumbatron 9000", "Zyxomatic", "kubernetes", "PostgreSQL", "OpenSIPS", "fooBarBaz"]
NOUNS = """invoice mailbox queue extension operator balance refund parcel technician contract password voicemail menu
department schedule record object project produce permit content address insult present lead tear wind bow row close
minute read live use excuse house abuse separate estimate graduate moderate duplicate desert refuse""".split()
VERBS = """transferred cancelled booked rescheduled confirmed delayed posted shipped checked refunded upgraded blocked
wanted needed stopped planned tagged hopped waited loaded kissed pushed watched rigged quitted bobbed""".split()
ADJECTIVES = """final urgent overdue new quick quiet unbelievable non-refundable well-known up-to-date mother-in-law's
state-of-the-art re-elected co-operative pre-paid part-time twenty-one-year-old user's users' boss's bosses'""".split()
STEMS = """flibber grontle zaxify blorp quizzle snarfle wobbulate trundlize mogg phlem cronk vexatify""".split()
SUFFIXES = ["", "s", "es", "ed", "ing", "'s", "er", "ness", "ly", "ation"]
NUMBERS = ["0", "7", "13", "21", "40", "99", "100", "101", "110", "342", "999", "1000", "1001", "1066", "1234", "1900",
           "1905", "1999", "2000", "2005", "2010", "2024", "10000", "12,345", "1,000,001", "123456789", "007", "0.5",
           "3.14", "10.10", "1.0", ".75", "99.9", "-5", "-12.5", "1st", "2nd", "3rd", "12th", "21st", "100th", "1,000th",
           "90s", "1990s", "80's", "747s", "5.6.7", "192.168.0.1", "v2.10", "100000000000000000000000", "1/2", "3/4"]
MONEY = ["$5", "$1", "$0.99", "$1.00", "$42.50", "$1,250.75", "£3.01", "£1", "€20", "€0.5", "$5 million", "$1.234",
         "US$30", "$2.5 billion", "-$5", "$.50", "£1,000", "€1.1", "$ 5", "5$", "¥500", "₹99"]
TIMES = ["3:15", "9 a.m.", "9am", "5:30 p.m.", "12:00", "10pm", "23:59", "noon", "7 o'clock", "quarter past 4"]
DATES = ["March 3rd", "3 March 2024", "12/25/2023", "2024-01-31", "the 21st of June", "Sept. 5", "Jan. 1st, 1999", "May 2"]
ABBREVIATIONS = ["Dr. Smith", "Mr. O'Neil", "Mrs. Lee", "St. John", "e.g. this", "i.e. that", "U.S. citizens", "the U.K.",
                 "a.k.a. Bob", "Inc.", "Ltd. Co.", "vs. them", "us vs them", "Ph.D.", "approx. ten", "etc.", "No. 5", "NASA",
                 "FBI", "USA", "IBM's", "PINs", "URLs", "TVs", "CEO", "ATM", "AM radio", "the IT team", "TO BE", "AN ORDER",
                 "IN FULL", "THE END", "USED CARS", "I AM", "a VIP", "an MP", "BY AND BY", "stand by", "come in.", "go to"]
CONTRACTIONS = """I'm you're he's she'd we'll they've can't won't don't isn't wouldn't could've y'all ain't let's 'em
o'clock who's it'd that'll shan't mustn't 'tis 'cause ma'am rock'n'roll gonna wanna dunno I’d you’ve don’t""".split()
SYMBOLS = ["a & b", "50%", "x = y", "a+b", "me@example.com", "https://example.com/a-b?c=d", "www.example.org", "#1", "*67",
           "A/B", "and/or", "5 < 6", "~20", "C++", "C#", "°C", "20°", "™", "(see below)", "[sic]", "{x}", "“quoted”",
           "'single'", "«guillemets»", "…", "...", "--", "—", "a—b", "a – b", "well...", "?!", "!!", "¿Qué?", "key_name",
           "a|b", "^", "\\", "§ 5", "x²", "5²", "½", "①", "٣", "Ⅳ", "½ cup", "m/s", "5km", "10kg", "3x", "24/7", "9-to-5"]
SCRIPTS = ["😀", "naïve café", "Straße", "привет", "你好", "こんにちは", "مرحبا", "שלום", "Αθήνα", "한국어", "हिन्दी", "ﬁne", "ｆｕｌｌ",
           "e\u0301te\u0301", "👩‍👩‍👧 family", "İstanbul", "ǅ", "x\u200by", "a\u00a0b", "tab\there", "𝔘𝔫𝔦", "🇬🇧"]
HOMOGRAPHS = """I read it yesterday and will read it again.|They live near the live show.|We record the record.|Please close
the close door.|The wind will wind down.|She shed a tear while I tear paper.|He used to use the used car.|Lead the lead
singer.|The dove dove down.|Refuse the refuse.|Does the doe's owner know what he does?|An object may object.|They permit a
permit.|I am.|I am available.|To err is human, to forgive divine.|What is it used for?|Where are you going to?|Come on in!|In
or out?|I put it in.|That is the one that I meant.|Have you had what you have?|Such as this, as such.|The apple, the pear, the
hour, the unit, the FBI.|A unit, an hour, a European, an MP.|Vitamin A is an A-grade vitamin.|I'd like to go to a
to-do.|More than that, rather than this.|For what? For you.|Some of some.|Would you? I would.|You were where we were.""".replace("\n", " ").split("|")
PATTERNS = [
    "Thank you for calling {place}, how can I help you today?", "{name}, your {noun} has been {verb}.",
    "Press {number} for {noun}s, or stay on the line.", "The {adj} {noun} costs {money}.", "Your balance is {money}.",
    "We are open from {time} to {time}, {date}.", "On {date} at {time} we {verb} {number} {noun}s.",
    "{abbr} {verb} the {noun}", "{contraction} {verb} the {adj} {noun}?", "{Adj} {noun}: {symbol}!", "{symbol} {symbol}",
    "{stem}{suffix} and {stem}{suffix} {verb} {product}.", "Is {product} {adj}; {name} {contraction} know",
    "{PRODUCT} {NOUN} {verb}!", "\"{contraction},\" said {name}, \"{verb} by {number}.\"", "({abbr}) {number}{symbol}",
    "{script} {noun} {script}", "Dial {number}-{number} ext. {number}.", "{name}'s {noun}s’ {noun}", "{noun}-{noun}/{noun}",
    "{number} {noun}s, {number} {adj} {product}s, {money} each", "to {noun} or not to {noun}, that's the {adj} {noun}",
    "the {adj} {product} is in the {noun}", "{Noun} {noun}. {Noun} {noun}? {Noun}!", "{noun}...{noun}", "{stem}-{noun}{number}",
    "{name} ({place}) — {date}, {time}", "I {verb} {number}% of {money} in {date}.", "{STEM} v{number}", "{contraction} {contraction}",
]


def lines():
    rng = random.Random(14)
    pick = rng.choice
    yield from HOMOGRAPHS
    yield from itertools.chain(SYMBOLS, SCRIPTS, NUMBERS, MONEY, ABBREVIATIONS, CONTRACTIONS, PRODUCTS)
    yield from (stem + suffix for stem in STEMS for suffix in SUFFIXES)
    while True:
        noun, stem, product = pick(NOUNS), pick(STEMS), pick(PRODUCTS)
        values = {
            "place": pick(PLACES), "name": pick(FIRST) + " " + pick(LAST), "noun": noun, "Noun": noun.capitalize(),
            "NOUN": noun.upper(), "verb": pick(VERBS), "adj": pick(ADJECTIVES), "Adj": pick(ADJECTIVES).capitalize(),
            "number": pick(NUMBERS), "money": pick(MONEY), "time": pick(TIMES), "date": pick(DATES),
            "abbr": pick(ABBREVIATIONS), "contraction": pick(CONTRACTIONS), "symbol": pick(SYMBOLS), "stem": stem,
            "STEM": stem.upper(), "suffix": pick(SUFFIXES), "product": product, "PRODUCT": product.upper(),
            "script": pick(SCRIPTS),
        }
        yield pick(PATTERNS).format(**values)


def main():
    texts = list(itertools.islice(dict.fromkeys(itertools.islice(lines(), 4 * LINES)), LINES))
    for accent in ("us", "gb"):
        g2p = G2P(british=accent == "gb")
        cases = []
        for text in texts:
            try:
                cases.append([text, g2p(text, normalize_text=False)])
            except (IndexError, ValueError) as error:
                print(accent, repr(text), "the package fails:", repr(error))
        path = os.path.join(HERE, f"phoneme-cases-{accent}.json.gz")
        with open(path, "wb") as file:
            data = json.dumps(cases, ensure_ascii=False, separators=(",", ":")).encode()
            file.write(gzip.compress(data, 9, mtime=0))
        print(path, len(cases), "lines", os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main()
