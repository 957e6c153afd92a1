import { FRENCH, FRENCH_MONTHS, FRENCH_WEEKDAYS, frenchCardinal } from '../../speak/languages/french.ts';
import type { LanguageWords, Phrases } from './language-words.ts';

/** Belgian and Swiss tens. */
const OTHER_TENS: Phrases<number> = (
  [
    ['septante', 70],
    ['huitante', 80],
    ['octante', 80],
    ['nonante', 90],
  ] as const
).flatMap(([tens, value]) =>
  Array.from({ length: 10 }, (_, units) => {
    const said =
      units === 0 ? tens : units === 1 ? `${tens} et un, ${tens} et une` : `${tens} ${frenchCardinal(units)}`;
    return [said, value + units] as const;
  }),
);

function ordinals(value: number): string {
  if (value === 1) return 'premier, première';
  const said = frenchCardinal(value)
    .replace(/vingts$/, 'vingt')
    .replace(/e$/, '')
    .replace(/cinq$/, 'cinqu')
    .replace(/neuf$/, 'neuv');
  return value === 2 ? 'deuxième, second, seconde' : `${said}ième`;
}

/** French. */
export const FRENCH_WORDS: LanguageWords = {
  spoken: FRENCH,
  numbers: {
    smalls: [
      ['une', 1],
      ...[21, 31, 41, 51, 61].map((value) => [`${frenchCardinal(value)}e`, value] as const),
      ['quatre vingt', 80],
      ['quatre vingt une', 81],
      ...OTHER_TENS,
    ],
    ordinals: Array.from({ length: 99 }, (_, index) => [ordinals(index + 1), index + 1] as const),
    hundred: 'cent, cents',
    hundreds: [],
    scales: [
      ['mille, mil', 1000],
      ['million, millions', 1_000_000],
      ['milliard, milliards', 1_000_000_000],
    ],
    and: 'et',
    articles: '',
    compounds: false,
    ordinalEndings: 'er, ere, e, eme, ieme, nd, nde',
    amongDigits: [['o', 0]],
    repeats: [
      ['double, deux fois, deux fois le', 2],
      ['triple, trois fois, trois fois le', 3],
    ],
    decimalMark: ',',
    point: 'virgule, point',
    minus: 'moins, -',
    plus: 'plus',
    quantities: [
      ['aucun, aucune, personne, rien', 0],
      ['un demi, une demie, la moitié', 0.5],
      ['juste moi, moi seul, seulement moi', 1],
      ['tous les deux, une paire', 2],
      ['une demi douzaine', 6],
      ['une dizaine', 10],
      ['une douzaine', 12],
    ],
    andHalf: 'et demi, et demie',
    extension: 'poste, extension',
  },
  answers: {
    yes:
      "oui, ouais, ouaip, si, bien sûr, d'accord, exact, exactement, c'est ça, c'est exact, c'est correct, " +
      "c'est bon, c'est bien ça, correct, tout à fait, " +
      "absolument, certainement, volontiers, avec plaisir, ok, okay, parfait, entendu, oui s'il vous plaît, " +
      "s'il vous plaît, je veux bien, je crois que oui, " +
      'je pense que oui, ça marche, ça me va, très bien, bien, évidemment, je confirme, confirmé, voilà, ' +
      'effectivement, juste, vrai, en effet, carrément',
    no:
      "non, nan, jamais, pas du tout, absolument pas, surtout pas, non merci, c'est faux, faux, incorrect, " +
      "ce n'est pas ça, c'est pas ça, ce n'est pas correct, " +
      "ce n'est pas bon, je ne crois pas, je ne pense pas, je crois que non, pas maintenant, pas encore, " +
      'pas vraiment, pas exactement, bien sûr que non, ' +
      'négatif, en aucun cas, rien, je ne veux pas, certainement pas, plutôt pas, pas tout à fait',
    unsure:
      'peut être, je ne sais pas, je sais pas, sais pas, pas sûr, je ne suis pas sûr, je ne suis pas sûre, ' +
      'aucune idée, ça dépend, un instant, un moment, ' +
      'attendez, attends, comment, quoi, pardon, je ne me souviens pas',
    plain: "oui, non, exactement, bien sûr, d'accord, non merci",
    please: "s'il vous plaît",
    waiting: "un instant, un moment, une seconde, une minute s'il vous plaît, un petit instant",
    not: 'pas, ne, aucun',
    corrections:
      'non attendez, non attends, attendez non, je veux dire, je voulais dire, pardon, enfin, plutôt, ou ' +
      'plutôt, non pardon, correction, attendez, attends, ' +
      'en fait, excusez moi, non non, euh non, mince non',
    fillers:
      "euh, heu, ben, bah, alors, et, donc, s'il vous plaît, merci, bonjour, le, la, les, l, un, une, des, " +
      "je, j, j'ai, voudrais, veux, aimerais, " +
      "souhaite, il, me, faut, avec, de, du, d, pour, à, au, aux, en, mon, ma, numéro, est, c'est, ce, " +
      'serait, parler, monsieur, madame, ' +
      'nous, sommes, personnes, au total, seulement, on, sera, que, dans, service, vers, moi, passez, ' +
      'disons, dirais, prends, prendre, crois, pense',
    noneOfThese:
      "aucun de ces choix, aucun des deux, aucune des deux, aucun, aucune, ni l'un ni l'autre, autre chose, " +
      'rien de tout ça, rien',
    but: 'mais, plutôt',
    option: 'option, numéro, touche, choix, la, le, le numéro, appuyer',
    theOne: "option, s'il vous plaît, choix, un",
    last: 'dernier, dernière, le dernier, la dernière',
  },
  dates: {
    months: FRENCH_MONTHS,
    weekdays: FRENCH_WEEKDAYS,
    days: [
      ["aujourd'hui, ce soir, cet après-midi", 0],
      ['demain, demain matin, demain soir, demain après-midi', 1],
      ['après-demain', 2],
      ['hier', -1],
      ['avant-hier', -2],
    ],
    ahead: 'dans, en',
    from: 'à partir de, à partir, après',
    next: 'prochain, prochaine, suivant, suivante, qui vient',
    this: 'ce, cette, cet',
    units: [
      ['jour, jours', 'day'],
      ['semaine, semaines', 'week'],
      ['mois', 'month'],
      ['an, ans, année, années', 'year'],
    ],
    a: 'un, une',
    of: 'du, de',
    links: 'le, la, de, du, au, pour, l, d',
    dayFirst: true,
    otherOrder: [],
  },
  times: {
    at: 'à, vers',
    noon: 'midi',
    midnight: 'minuit',
    morning: 'du matin, le matin, au matin, ce matin, matin',
    night: 'de la nuit, la nuit',
    afternoon: "de l'après-midi, après-midi, l'après-midi",
    evening: 'du soir, le soir, ce soir, soir',
    hour: 'heure, heures, h, heures pile',
    minutes: 'minutes, minute',
    half: 'demi, demie',
    halfBefore: false,
    quarter: 'quart, le quart, un quart',
    threeQuarters: 'trois quarts',
    past: '',
    to: '',
    less: 'moins',
    now: 'maintenant, tout de suite, immédiatement',
    ahead: 'dans, en',
    units: [
      ['minute, minutes', 1],
      ['heure, heures', 60],
    ],
    zero: 'zéro',
    andMinutes: false,
  },
  money: {
    currencies: [
      ['euro, euros, EUR, €', 'EUR'],
      ['dollar, dollars, $', '$'],
      ['dollar américain, dollars américains, USD', 'USD'],
      ['dollar canadien, dollars canadiens, CAD', 'CAD'],
      ['livre, livres, livres sterling, GBP, £', 'GBP'],
      ['franc, francs, franc suisse, francs suisses, CHF', 'CHF'],
      ['yen, yens, JPY, ¥', 'JPY'],
    ],
    parts: 'centime, centimes, cent, cents, penny, pence',
    regions: { '*': 'EUR', CA: 'CAD', CH: 'CHF' },
  },
  endings: [
    'ations',
    'ation',
    'ements',
    'ement',
    'ions',
    'ion',
    'eurs',
    'eur',
    'ees',
    'ent',
    'er',
    'ez',
    'es',
    'ee',
    's',
    'e',
    'x',
  ],
  sounds: [
    [/eaux|eau|aux|au/g, 'o'],
    [/ph/g, 'f'],
    [/ch/g, 'x'],
    [/qu|c(?![eih])|k/g, 'k'],
    [/c(?=[ei])|ss|z/g, 's'],
    [/g(?=[ei])/g, 'j'],
    [/ai|ei|ez$|er$|et$|es$/g, 'e'],
    [/oi/g, 'ua'],
    [/ou/g, 'u'],
    [/en|an|em|am/g, 'an'],
    [/[stxdp]$/g, ''],
    [/e$/g, ''],
    [/h|y/g, ''],
    [/(.)\1+/g, '$1'],
  ],
};
