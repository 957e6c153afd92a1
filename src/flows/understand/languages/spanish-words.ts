import { SPANISH, SPANISH_HUNDREDS, SPANISH_MONTHS, SPANISH_WEEKDAYS } from '../../speak/languages/spanish.ts';
import type { LanguageWords } from './language-words.ts';

const ORDINALS = (
  'primer primero primera,segundo segunda,tercer tercero tercera,cuarto cuarta,quinto quinta,sexto sexta,' +
  'séptimo séptima,octavo octava,noveno novena,décimo décima'
).split(',');

/** Spanish. */
export const SPANISH_WORDS: LanguageWords = {
  spoken: SPANISH,
  numbers: {
    smalls: [
      ['un, una', 1],
      ['veintiún, veintiuna, veinte y uno', 21],
      ...[30, 40, 50, 60, 70, 80, 90].map(
        (tens) => [`${SPANISH.cardinal(tens)} y un, ${SPANISH.cardinal(tens)} y una`, tens + 1] as const,
      ),
    ],
    ordinals: ORDINALS.map((words, index) => [words.replaceAll(' ', ', '), index + 1] as const),
    hundred: 'cien, ciento',
    hundreds: SPANISH_HUNDREDS.slice(2).map(
      (word, index) => [`${word}, ${word.replace(/os$/, 'as')}`, (index + 2) * 100] as const,
    ),
    scales: [
      ['mil', 1000],
      ['millón, millones', 1_000_000],
    ],
    and: 'y',
    articles: '',
    compounds: false,
    ordinalEndings: 'o, a, er, ro, ra, do, da, to, ta, º, ª',
    amongDigits: [['o', 0]],
    repeats: [
      ['doble, dos veces', 2],
      ['triple, tres veces', 3],
    ],
    decimalMark: ',',
    point: 'coma, punto, con',
    minus: 'menos, -',
    plus: 'más',
    quantities: [
      ['ninguno, ninguna, nadie, nada', 0],
      ['medio, media', 0.5],
      ['uno y medio, una y media', 1.5],
      ['solo yo, sólo yo', 1],
      ['un par, ambos', 2],
      ['media docena', 6],
      ['una docena', 12],
    ],
    andHalf: 'y medio, y media',
    extension: 'extensión, interno, anexo',
  },
  answers: {
    yes:
      'sí, claro, claro que sí, por supuesto, correcto, es correcto, exacto, exactamente, así es, eso es, ' +
      'de acuerdo, vale, bueno, bien, está bien, ' +
      'ok, okay, cierto, es cierto, desde luego, perfecto, afirmativo, seguro, cómo no, sí por favor, por ' +
      'favor, creo que sí, me parece bien, confirmo, ' +
      'confirmado, adelante, dale, sale, genial, estupendo, verdad, sí señor, sí señora, sip',
    no:
      'no, nunca, jamás, para nada, de ninguna manera, en absoluto, no gracias, incorrecto, no es correcto, ' +
      'no es así, eso no, claro que no, ' +
      'por supuesto que no, creo que no, me parece que no, negativo, tampoco, todavía no, ahora no, mejor ' +
      'no, no está bien, nada, no señor, no señora, falso, qué va, no quiero',
    unsure:
      'quizás, quizá, tal vez, no sé, no lo sé, no estoy seguro, no estoy segura, a lo mejor, puede ser, ' +
      'depende, ni idea, no tengo ni idea, un momento, ' +
      'espere, espera, cómo, qué, perdón, no me acuerdo',
    plain: 'sí, no, claro, claro que sí, correcto, no gracias, por supuesto',
    please: 'por favor',
    waiting: 'un momento, un segundo, un momentito, un minuto por favor',
    not: 'no, ni',
    corrections:
      'no espera, no espere, espera no, quiero decir, digo, perdón, mejor dicho, no perdón, no digo, ' +
      'corrección, en realidad, espera, espere, o sea, o mejor, no mejor',
    fillers:
      'eh, em, este, pues, bueno, a ver, y, por favor, gracias, hola, buenos días, buenas tardes, el, la, ' +
      'los, las, lo, un, una, yo, quiero, quisiera, ' +
      'me gustaría, necesito, con, de, del, para, por, a, al, en, mi, número, es, son, sería, seria, ' +
      'hablar, comunicarme, señor, señora, ' +
      'somos, personas, en total, solo, unos, unas, que, póngame, pásame, páseme, tengo, sobre, ' +
      'departamento, me, se, favor, creo, hacia, entonces, sea',
    noneOfThese:
      'ninguno de estos, ninguna de estas, ninguno, ninguna, ninguno de los dos, otra cosa, nada de eso, ni ' +
      'uno ni otro, nada',
    but: 'sino, pero, mejor',
    option: 'opción, número, tecla, la, el, pulsar, marcar, opción número',
    theOne: 'opción, por favor, alternativa',
    last: 'última, último, la última, el último',
  },
  dates: {
    months: SPANISH_MONTHS.map((month) =>
      month === 'septiembre' ? 'septiembre, setiembre, sep' : `${month}, ${month.slice(0, 3)}`,
    ),
    weekdays: SPANISH_WEEKDAYS,
    days: [
      ['hoy, esta noche, esta tarde', 0],
      ['mañana, mañana por la mañana, mañana por la tarde, mañana en la mañana', 1],
      ['pasado mañana', 2],
      ['ayer', -1],
      ['anteayer, antes de ayer', -2],
    ],
    ahead: 'en, dentro de',
    from: 'a partir de, desde, después de',
    next: 'próximo, próxima, siguiente, que viene, el próximo, la próxima, el siguiente',
    this: 'este, esta',
    units: [
      ['día, días', 'day'],
      ['semana, semanas', 'week'],
      ['mes, meses', 'month'],
      ['año, años', 'year'],
    ],
    a: 'un, una',
    of: 'de',
    links: 'el, la, de, del, para el, para, al',
    dayFirst: true,
    otherOrder: [],
  },
  times: {
    at: 'a las, a la',
    noon: 'mediodía, el mediodía, al mediodía',
    midnight: 'medianoche, la medianoche',
    morning: 'de la mañana, de la madrugada, por la mañana, en la mañana, am, a m',
    night: 'de la noche, por la noche, en la noche',
    afternoon: 'de la tarde, por la tarde, en la tarde, del mediodía, pm, p m',
    evening: '',
    hour: 'horas, hora, en punto, h',
    minutes: 'minutos, minuto',
    half: 'media',
    halfBefore: false,
    quarter: 'cuarto, un cuarto',
    threeQuarters: '',
    past: 'pasadas las',
    to: 'para las, para la, antes de las',
    less: 'menos',
    now: 'ahora, ahora mismo, ya',
    ahead: 'en, dentro de',
    units: [
      ['minuto, minutos', 1],
      ['hora, horas', 60],
    ],
    zero: 'cero',
    andMinutes: true,
  },
  money: {
    currencies: [
      ['euro, euros, EUR, €', 'EUR'],
      ['dólar, dólares, dólares americanos, USD, $', 'USD'],
      ['libra, libras, libras esterlinas, GBP, £', 'GBP'],
      ['peso, pesos, pesos mexicanos, MXN', 'MXN'],
      ['franco suizo, francos suizos, franco, francos, CHF', 'CHF'],
      ['yen, yenes, JPY, ¥', 'JPY'],
    ],
    parts: 'céntimo, céntimos, centavo, centavos, penique, peniques, cent, cents',
    regions: { '*': 'EUR', MX: 'MXN', US: 'USD' },
  },
  endings: ['ciones', 'mente', 'es', 'as', 'os', 'ar', 'er', 'ir', 's', 'a', 'o', 'e'],
  sounds: [
    [/ch/g, 'x'],
    [/ll|y/g, 'i'],
    [/qu|c(?![eih])|k/g, 'k'],
    [/c(?=[ei])|z/g, 's'],
    [/gu(?=[ei])/g, 'g'],
    [/g(?=[ei])/g, 'j'],
    [/v/g, 'b'],
    [/h/g, ''],
    [/(.)\1+/g, '$1'],
  ],
};
