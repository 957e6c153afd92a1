import { GERMAN, GERMAN_MONTHS, GERMAN_WEEKDAYS, germanCardinal, germanOrdinal } from '../../speak/languages/german.ts';
import type { LanguageWords } from './language-words.ts';

const TENS = [20, 30, 40, 50, 60, 70, 80, 90];
const CASES = ['', 'n', 'r', 's', 'm'];

/** German. */
export const GERMAN_WORDS: LanguageWords = {
  spoken: GERMAN,
  numbers: {
    smalls: [
      ['ein, eine, einen, einem, einer', 1],
      ['zwo', 2],
      ['fuenf', 5],
      ['zwoelf', 12],
      ['fuenfzehn', 15],
      ['dreissig', 30],
      ['fuenfzig', 50],
      ...TENS.flatMap((tens) =>
        Array.from({ length: 9 }, (_, index) => {
          const unit = index === 0 ? 'ein' : germanCardinal(index + 1);
          return [`${unit} und ${germanCardinal(tens)}`, tens + index + 1] as const;
        }),
      ),
    ],
    ordinals: Array.from(
      { length: 99 },
      (_, index) => [CASES.map((ending) => germanOrdinal(index + 1) + ending).join(', '), index + 1] as const,
    ),
    hundred: 'hundert',
    hundreds: [],
    scales: [
      ['tausend', 1000],
      ['Million, Millionen', 1_000_000],
      ['Milliarde, Milliarden', 1_000_000_000],
    ],
    and: 'und',
    articles: '',
    compounds: true,
    ordinalEndings: 'te, ten, ter, ste, sten, ster',
    amongDigits: [['oh', 0]],
    repeats: [
      ['doppel, doppelt, zweimal, zweimal die, zwei mal, zwei mal die', 2],
      ['dreifach, dreimal, dreimal die, drei mal, drei mal die', 3],
    ],
    decimalMark: ',',
    point: 'Komma, Punkt',
    minus: 'minus, -',
    plus: 'plus',
    quantities: [
      ['keine, keiner, keinen, niemand, nichts', 0],
      ['ein halb, halb, eine halbe, einhalb, ein halber', 0.5],
      ['anderthalb, eineinhalb', 1.5],
      ['zweieinhalb', 2.5],
      ['nur ich', 1],
      ['ein Paar, beide, zweimal', 2],
      ['ein halbes Dutzend', 6],
      ['ein Dutzend, Dutzend', 12],
    ],
    andHalf: 'einhalb, und ein halb, und ein halbes',
    extension: 'Durchwahl, Nebenstelle',
  },
  answers: {
    yes:
      'ja, jawohl, jo, jep, jupp, jou, klar, na klar, genau, richtig, korrekt, stimmt, das stimmt, das ist ' +
      'richtig, das ist korrekt, ' +
      'sicher, aber sicher, natürlich, selbstverständlich, gerne, gern, ja gerne, ja bitte, bitte, okay, ' +
      'ok, in Ordnung, einverstanden, passt, ' +
      'das passt, auf jeden Fall, unbedingt, absolut, gut, alles klar, mhm, aha, freilich, so ist es, ich ' +
      'denke schon, ich glaube schon, ' +
      'das wäre gut, perfekt, super, bestätigt, ich bestätige, doch, eben, prima, wunderbar, von mir aus, meinetwegen',
    no:
      'nein, nee, ne, nö, nicht, keinesfalls, auf keinen Fall, niemals, nie, falsch, das ist falsch, das ' +
      'stimmt nicht, stimmt nicht, ' +
      'nein danke, lieber nicht, bitte nicht, das passt nicht, ich glaube nicht, ich denke nicht, ich ' +
      'glaube kaum, noch nicht, jetzt nicht, ' +
      'gar nicht, überhaupt nicht, keineswegs, mitnichten, nichts, abgelehnt, negativ, das ist nicht ' +
      'richtig, das ist nicht korrekt, im Gegenteil',
    unsure:
      'vielleicht, weiß nicht, weiß ich nicht, das weiß ich nicht, ich weiß nicht, ich weiß es nicht, keine ' +
      'Ahnung, ich habe keine Ahnung, ' +
      'möglicherweise, kommt darauf an, kommt drauf an, nicht sicher, ich bin nicht sicher, ich bin mir ' +
      'nicht sicher, Moment, einen Moment, ' +
      'Augenblick, warten Sie, was, wie bitte, jein, eventuell',
    plain: 'ja, jawohl, nein, nee, genau, richtig, natürlich, klar, nein danke',
    please: 'bitte',
    waiting:
      'einen Moment, einen Moment bitte, eine Sekunde, einen Augenblick, Moment mal, Sekunde, kleinen ' +
      'Moment, ein Moment',
    not: 'nicht, kein, keine, keinen, nicht wirklich, nicht ganz, eher nicht, nicht so',
    corrections:
      'nein Moment, nein warte, nein warten Sie, Moment nein, Quatsch, ich meine, ich meinte, ' +
      'Entschuldigung, beziehungsweise, halt nein, ' +
      'nein halt, Korrektur, vielmehr, besser gesagt, nein doch, ach nein, Verzeihung, stopp, Moment, nein ' +
      'quatsch, nee warte, oder nein',
    fillers:
      'äh, ähm, hm, also, na, ja, so, und, dann, mal, bitte, danke, guten Tag, hallo, der, die, das, den, ' +
      'dem, des, ein, eine, einen, ich, ' +
      'möchte, will, hätte, hätte gern, hätte gerne, gern, gerne, würde, brauche, nehme, wäre, es, ist, ' +
      'sind, mein, meine, Nummer, ' +
      'lautet, mit, zu, zum, zur, für, von, vom, mir, mich, wir, am, um, im, in, an, auf, ans, sprechen, ' +
      'verbinden Sie mich, verbinden, Sie, können, ' +
      'geht um, es geht um, wegen, frage, fragen, Abteilung, haben, doch, halt, eben, genau, wohl, denke, ' +
      'glaube, Personen, Leute, Stück, insgesamt, ' +
      'etwa, ungefähr, circa, nur, gegen, drücke, drücken, okay, sagen, sagen wir, machen wir, machen',
    noneOfThese:
      'keins davon, keines davon, keine davon, keiner davon, nichts davon, keins von beiden, keins, weder ' +
      'noch, was anderes, etwas anderes, ' +
      'keine der Optionen, anderes, nichts',
    but: 'sondern, aber, stattdessen, lieber',
    option: 'Option, Nummer, Auswahl, Taste, Punkt, Menüpunkt, die, drücken, Ziffer, Nummer die',
    theOne: 'Option, Auswahl, Punkt, bitte, Möglichkeit, Eintrag, Menüpunkt',
    last: 'letzte, letzter, letztes, letzten, die letzte, das letzte, den letzten',
  },
  dates: {
    months: GERMAN_MONTHS.map((month) => {
      const more: Readonly<Record<string, string>> = {
        Januar: 'Jänner',
        Februar: 'Feber',
        Juni: 'Juno',
        Juli: 'Julei',
      };
      return `${month}, ${more[month] ?? month}, ${month === 'März' ? 'Mrz, Maerz' : month.slice(0, 3)}`;
    }),
    weekdays: GERMAN_WEEKDAYS.map((day) => `${day}, ${day}s${day === 'Samstag' ? ', Sonnabend' : ''}`),
    days: [
      ['heute, heute Abend, heute früh, heute Nachmittag', 0],
      ['morgen, morgen früh, morgen Abend, morgen Nachmittag', 1],
      ['übermorgen', 2],
      ['gestern', -1],
      ['vorgestern', -2],
    ],
    ahead: 'in, binnen',
    from: 'ab, ab heute, nach',
    next: 'nächsten, nächste, nächster, nächstes, nächstem, kommenden, kommende, kommender, kommendes, den nächsten',
    this: 'diesen, diese, dieser, dieses, diesem',
    units: [
      ['Tag, Tage, Tagen', 'day'],
      ['Woche, Wochen', 'week'],
      ['Monat, Monate, Monaten, Monats', 'month'],
      ['Jahr, Jahre, Jahren', 'year'],
    ],
    a: 'ein, eine, einen, einem, einer',
    of: '',
    links: 'der, den, dem, am, des, im, vom, um',
    dayFirst: true,
    otherOrder: [],
  },
  times: {
    at: 'um, gegen',
    noon: 'Mittag, zwölf Uhr mittags, 12 Uhr mittags, am Mittag',
    midnight: 'Mitternacht, um Mitternacht',
    morning: 'morgens, am Morgen, früh, vormittags, am Vormittag, in der Früh, heute Morgen, Vormittag',
    night: 'nachts, in der Nacht, Nacht',
    afternoon: 'nachmittags, am Nachmittag, Nachmittag, mittags',
    evening: 'abends, am Abend, Abend',
    hour: 'Uhr',
    minutes: 'Minuten, Minute',
    half: 'halb, halbe, halben',
    halfBefore: true,
    quarter: 'Viertel',
    threeQuarters: 'dreiviertel, drei viertel',
    past: 'nach',
    to: 'vor',
    less: '',
    now: 'jetzt, sofort, gleich',
    ahead: 'in',
    units: [
      ['Minute, Minuten', 1],
      ['Stunde, Stunden', 60],
    ],
    zero: 'null',
    andMinutes: false,
  },
  money: {
    currencies: [
      ['Euro, Euros, EUR, €', 'EUR'],
      ['Dollar, Dollars, US Dollar, USD, $', 'USD'],
      ['Pfund, britische Pfund, GBP, £', 'GBP'],
      ['Franken, Schweizer Franken, CHF, Stutz, Fränkli', 'CHF'],
      ['Yen, JPY, ¥', 'JPY'],
    ],
    parts: 'Cent, Cents, Rappen, Pence, Penny, Pfennig',
    regions: { '*': 'EUR', CH: 'CHF', LI: 'CHF' },
  },
  endings: ['ungen', 'ung', 'ens', 'ern', 'en', 'er', 'es', 'em', 'e', 'n', 's', 'st', 't'],
  sounds: [
    [/sch/g, 'x'],
    [/ph|v(?=[^aeiou]|o|e|a)/g, 'f'],
    [/chs|ks|x(?=$)/g, 'ks'],
    [/ch/g, 'h'],
    [/ck|c(?![eih])|q/g, 'k'],
    [/tz|z/g, 'ts'],
    [/dt|th|d(?=$)/g, 't'],
    [/b(?=$)/g, 'p'],
    [/g(?=$)/g, 'k'],
    [/ei|ai|ey|ay/g, 'i'],
    [/ie/g, 'i'],
    [/eu|au|oi/g, 'o'],
    [/(?<=[aeiou])h/g, ''],
    [/y/g, 'u'],
    [/(.)\1+/g, '$1'],
  ],
};
