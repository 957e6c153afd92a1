/** English words that decide whether a full stop ends a sentence. In lower case, without their last stop. */

/** Their stop never ends a sentence, because something always follows. */
export const LEADING_ABBREVIATIONS: ReadonlySet<string> = new Set(
  (
    'mr mrs ms mx messrs prof gen col sgt cpl pvt lt capt cmdr maj adm rev fr hon gov sen rep pres supt vs e.g ' +
    'i.e eg ie cf ca viz approx fig figs vol vols art sec ed eds tel ext attn incl excl al assoc'
  ).split(' '),
);

/** These end a sentence only before a word that begins sentences: "on Main St. The house …". */
export const INNER_ABBREVIATIONS: ReadonlySet<string> = new Set(
  (
    'dr st mt ft jr sr inc ltd co corp llc bros dept est univ ave blvd rd ln hwy apt ste ph.d min max avg sq ' +
    'lb lbs oz km kg cm mm hr hrs jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur ' +
    'thurs fri'
  ).split(' '),
);

/** These are abbreviations before a number, and words otherwise: "No. 5", but "I said no. We left." */
export const NUMBER_ABBREVIATIONS: ReadonlySet<string> = new Set(['no', 'nos', 'p', 'pp', 'ch', 'nr', 'para']);

/** These can follow "3 p.m." inside a sentence, although in capitals. */
export const AFTER_TIME: ReadonlySet<string> = new Set(
  (
    'monday tuesday wednesday thursday friday saturday sunday eastern central mountain pacific est edt cst cdt ' +
    'mst mdt pst pdt gmt utc cet cest bst et ct pt'
  ).split(' '),
);

/** Words that begin sentences and are rarely the second part of a name. */
export const SENTENCE_STARTERS: ReadonlySet<string> = new Set(
  (
    'a after all also an and are as at before both but by can could did do does each either every for from has ' +
    "have he he's her here here's hers his how however i i'd i'll i'm i've if in instead is it it's its just " +
    "let let's maybe my next no nobody not now of ok okay on once one or our perhaps please she she's should " +
    "since so some sorry sure thank thanks that that's the their then there there's these they they're this " +
    "those though to today tomorrow under until unfortunately was we we'll we're we've well were what what's " +
    "when where which while who why will with would yes yesterday yet you you'll you're you've your"
  ).split(' '),
);

/** Words before which a sentence can be cut. */
export const CLAUSE_STARTERS: ReadonlySet<string> = new Set(
  'and but so because although though which who while when where whereas if unless until since'.split(' '),
);
