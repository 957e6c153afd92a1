import { ordinal } from '../../../speech/normalise/words.ts';
import { ENGLISH, ENGLISH_MONTHS, ENGLISH_WEEKDAYS } from '../../speak/languages/english.ts';
import type { LanguageWords } from './language-words.ts';

/** English. */
export const ENGLISH_WORDS: LanguageWords = {
  spoken: ENGLISH,
  numbers: {
    smalls: [
      ['zero, nought, naught', 0],
      ['fourty', 40],
    ],
    ordinals: Array.from({ length: 99 }, (_, index) => [ordinal(index + 1), index + 1] as const),
    hundred: 'hundred',
    hundreds: [],
    scales: [
      ['thousand, grand', 1000],
      ['million', 1_000_000],
      ['billion', 1_000_000_000],
    ],
    and: 'and',
    articles: 'a, an',
    compounds: false,
    ordinalEndings: 'st, nd, rd, th',
    amongDigits: [
      ['o, oh, owe', 0],
      ['won', 1],
      ['to, too', 2],
      ['tree', 3],
      ['for, fore', 4],
      ['sex', 6],
      ['ate', 8],
      ['niner', 9],
    ],
    repeats: [
      ['double', 2],
      ['triple, treble', 3],
      ['quadruple', 4],
    ],
    decimalMark: '.',
    point: 'point, dot',
    minus: 'minus, negative, -',
    plus: 'plus',
    quantities: [
      ['none, nothing, nobody, no one', 0],
      ['for, fore', 4],
      ['to, too', 2],
      ['won', 1],
      ['ate', 8],
      ['half, a half, one half', 0.5],
      ['a quarter', 0.25],
      ['a, an, a single one, single, just me, only me', 1],
      ['a couple, couple, both, a pair, twice', 2],
      ['once', 1],
      ['half a dozen', 6],
      ['a dozen, dozen', 12],
      ['two dozen', 24],
    ],
    andHalf: 'and a half',
    extension: 'extension, ext',
  },
  answers: {
    yes:
      'yes, yeah, yea, yep, yup, yah, ya, yess, aye, ok, okay, sure, right, correct, exactly, absolutely, ' +
      'definitely, certainly, ' +
      'indeed, affirmative, positive, perfect, true, of course, thats right, that is right, that is correct, ' +
      'thats correct, thats it, that is it, it is, thats true, you got it, sounds good, sounds right, that ' +
      'works, works for me, ' +
      'all right, alright, go ahead, please do, i do, i would, i am, i did, i have, i will, i can, it does, ' +
      'they are, ' +
      'uh huh, mm hm, mhm, mmhmm, i think so, i guess so, i guess, by all means, why not, for sure, great, ' +
      'fine, good, ' +
      'you bet, no problem, no worries, no doubt, no objection, confirm, confirmed, i confirm, i agree, ' +
      'agreed, please, very much, id love to, i would like that, id like that',
    no:
      'no, nope, nah, naw, nay, never, negative, not at all, no way, no thanks, no thank you, i dont, i do ' +
      'not, i dont think so, ' +
      'i do not think so, i wouldnt, i would not, i am not, im not, i didnt, i did not, i havent, i wont, i cant, ' +
      'it isnt, it is not, its not, thats wrong, that is wrong, wrong, incorrect, thats incorrect, false, ' +
      'thats not it, ' +
      'it doesnt, they arent, not now, absolutely not, certainly not, definitely not, probably not, surely ' +
      'not, better not, rather not, id rather not, not yet, not today, nothing, none, uh uh, nuh uh, i ' +
      'disagree, i refuse, dont, please dont, cancel that',
    unsure:
      'maybe, perhaps, i dont know, i do not know, dont know, not sure, im not sure, i am not sure, no ' +
      'idea, i have no idea, ' +
      'possibly, it depends, could be, i cant remember, i dont remember, hold on, one moment, just a ' +
      'moment, wait, let me think, what, pardon, sorry',
    plain:
      'yes, yeah, yea, yep, yup, no, nope, nah, correct, exactly, absolutely, definitely, of course, no ' +
      'thanks, no thank you, not really',
    please: 'please',
    waiting:
      'one moment, one moment please, just a moment, a moment, one second, just a second, one sec, a second ' +
      'please, one minute please, just a minute, hold on, hold on a second, wait a second, wait a moment, ' +
      'give me a second, give me a moment',
    not: 'not, isnt, aint, not really, not quite, not exactly, hardly',
    corrections:
      'no wait, no sorry, sorry no, sorry i mean, sorry i meant, i mean, i meant, i meant to say, actually, ' +
      'actually no, wait no, wait, or rather, ' +
      'scratch that, correction, let me correct that, make that, excuse me, no no, rather, no actually, no i mean',
    fillers:
      'um, uh, er, erm, ah, oh, well, so, and, then, hmm, hm, like, please, thanks, thank you, sir, maam, ' +
      'hi, hello, hey, the, a, an, i, id, ' +
      'i would, i want, i need, like to, want to, would like, i would like, id like, ill take, i will take, ' +
      'take, give me, ' +
      'get me, lets say, lets, say, it, it is, its, that, thats, that is, is, my, number is, number, to, ' +
      'for, with, of, me, im, i am, ' +
      'calling about, calling for, about, can i, could i, may i, have, speak to, speak with, talk to, talk ' +
      'with, connect me to, connect me, ' +
      'put me through to, transfer me to, you, can you, just, do, go, one moment, ok, okay, yes, yeah, ' +
      'right, sure, think, guess, probably, ' +
      'there, are, we, were, need, want, us, people, persons, in total, together, exactly, only, about, ' +
      'around, would, be, at, on, by, ' +
      'department, press, pressing, at all, that would be, that will be, thatll be, itll be, it will be, ' +
      'how about, what about',
    noneOfThese:
      'none of these, none of those, none of them, none of the above, none of that, neither, neither of ' +
      'them, neither one, none, ' +
      'nothing, something else, anything else, somewhere else, other than that, not any of them, not any of ' +
      'those, no option',
    but: 'but, instead, rather, id rather have, rather have',
    option: 'option, number, choice, key, press, button, item, line, option number, choice number, select, the',
    theOne: 'one, option, choice, item, entry, please, thing',
    last: 'last, the last, the last one, last one, the final one, last option',
  },
  dates: {
    months: ENGLISH_MONTHS.map((month) => `${month}, ${month === 'September' ? 'sep, sept' : month.slice(0, 3)}`),
    weekdays: ENGLISH_WEEKDAYS.map((day) => `${day}, ${day}s, ${day.slice(0, 3)}`),
    days: [
      ['today, tonight, this day, this evening, this afternoon, this morning', 0],
      ['tomorrow, tomorrow morning, tomorrow evening', 1],
      ['the day after tomorrow, day after tomorrow, overmorrow', 2],
      ['yesterday', -1],
      ['the day before yesterday, day before yesterday', -2],
    ],
    ahead: 'in, within',
    from: 'from now, from, from today, after, hence, away, after next',
    next: 'next, the next, the following, following, coming, the coming, upcoming',
    this: 'this, this coming',
    units: [
      ['day, days', 'day'],
      ['week, weeks', 'week'],
      ['month, months', 'month'],
      ['year, years', 'year'],
    ],
    a: 'a, an',
    of: 'of',
    links: 'the, of, on, day, in',
    dayFirst: true,
    otherOrder: ['US', 'PH', ''],
  },
  times: {
    at: 'at, around, about',
    noon: 'noon, midday, mid day, noontime, twelve noon, lunchtime',
    midnight: 'midnight, twelve midnight',
    morning: 'am, a m, in the morning, morning, this morning, tomorrow morning, in the early morning',
    night: 'at night, tonight, night',
    afternoon: 'pm, p m, in the afternoon, afternoon, this afternoon, after noon',
    evening: 'in the evening, evening, this evening',
    hour: 'oclock, o clock, hours, hour, hundred hours',
    minutes: 'minutes, minute',
    half: 'half, a half',
    halfBefore: false,
    quarter: 'quarter, a quarter',
    threeQuarters: 'three quarters',
    past: 'past, after',
    to: 'to, before, till, until, of, two, too',
    less: '',
    now: 'now, right now, right away, immediately',
    ahead: 'in',
    units: [
      ['minute, minutes', 1],
      ['hour, hours', 60],
    ],
    zero: 'oh, o, zero',
    andMinutes: false,
  },
  money: {
    currencies: [
      ['dollar, dollars, buck, bucks, $', '$'],
      ['us dollar, us dollars, usd, u s dollars', 'USD'],
      ['canadian dollar, canadian dollars, cad', 'CAD'],
      ['australian dollar, australian dollars, aud', 'AUD'],
      ['euro, euros, eur, €', 'EUR'],
      ['pound, pounds, quid, gbp, pounds sterling, £', 'GBP'],
      ['swiss franc, swiss francs, franc, francs, chf', 'CHF'],
      ['yen, jpy, ¥', 'JPY'],
      ['rupee, rupees, inr, ₹', 'INR'],
    ],
    parts: 'cent, cents, penny, pennies, pence, p, centime, centimes, paisa, paise',
    regions: { '*': 'USD', GB: 'GBP', IE: 'EUR', CA: 'CAD', AU: 'AUD', IN: 'INR' },
  },
  endings: ['ings', 'ing', 'ies', 'ied', 'es', 'ed', 'er', 'ers', 's', 'e', 'y', 'ment', 'ments'],
  sounds: [
    [/ght/g, 't'],
    [/tion|cian|ssion|sion/g, 'xn'],
    [/ph/g, 'f'],
    [/^kn|^gn/g, 'n'],
    [/^wr/g, 'r'],
    [/wh/g, 'w'],
    [/ck|q|c(?![eiyh])/g, 'k'],
    [/c(?=[eiy])|z|ss/g, 's'],
    [/tch|ch/g, 'x'],
    [/sh/g, 'x'],
    [/dge|ge$|j/g, 'j'],
    [/x(?=$)/g, 'x'],
    [/mb$/g, 'm'],
    [/th/g, 't'],
    [/(?:ai|ay|ei|ey|a(?=[bcdfgklmnprstvxz]e))/g, 'a'],
    [/(?:ee|ea|ie|e(?=[bcdfgklmnprstvxz]e))/g, 'e'],
    [/(?:igh|uy|i(?=[bcdfgklmnprstvxz]e))/g, 'i'],
    [/(?:oa|ow|ou|o(?=[bcdfgklmnprstvxz]e))/g, 'o'],
    [/(?:oo|ew|ue|u(?=[bcdfgklmnprstvxz]e))/g, 'u'],
    [/(?<=.)e(?=s?$)/g, ''],
    [/y/g, 'e'],
    [/h/g, ''],
    [/(.)\1+/g, '$1'],
  ],
};
