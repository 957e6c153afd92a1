import type { SpokenLanguage } from './spoken-language.ts';

/** January is the first. */
export const SPANISH_MONTHS: readonly string[] =
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ');
/** Sunday is the first. */
export const SPANISH_WEEKDAYS: readonly string[] = 'domingo lunes martes miércoles jueves viernes sábado'.split(' ');

const SMALL = (
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete ' +
  'dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete ' +
  'veintiocho veintinueve'
).split(' ');
const TENS = 'cero diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa'.split(' ');
/** The hundreds have words of their own. */
export const SPANISH_HUNDREDS: readonly string[] = (
  'cero ciento doscientos trescientos cuatrocientos quinientos ' + 'seiscientos setecientos ochocientos novecientos'
).split(' ');
/** Currencies. */
const FEMININE = new Set(['libra']);
const MILLION = 1_000_000;

function belowThousand(value: number): string {
  if (value === 100) return 'cien';
  if (value >= 100) {
    const rest = value % 100;
    return `${SPANISH_HUNDREDS[Math.floor(value / 100)]}${rest === 0 ? '' : ` ${belowThousand(rest)}`}`;
  }
  if (value < 30) return SMALL[value] ?? '';
  const tens = TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${tens} y ${SMALL[value % 10]}`;
}

/** `231` → `doscientos treinta y uno`. */
export function spanishCardinal(value: number): string {
  if (value >= MILLION) {
    const [many, rest] = [Math.floor(value / MILLION), value % MILLION];
    const said = many === 1 ? 'un millón' : `${shortened(spanishCardinal(many))} millones`;
    return rest === 0 ? said : `${said} ${spanishCardinal(rest)}`;
  }
  if (value < 1000) return belowThousand(value);
  const [many, rest] = [Math.floor(value / 1000), value % 1000];
  const said = many === 1 ? 'mil' : `${shortened(belowThousand(many))} mil`;
  return rest === 0 ? said : `${said} ${belowThousand(rest)}`;
}

/** Before a noun: `veintiún`, not `veintiuno`. */
function shortened(said: string): string {
  return said.replace(/veintiuno$/, 'veintiún').replace(/uno$/, 'un');
}

function feminine(said: string): string {
  return said
    .replace(/uno$/, 'una')
    .replace(/cientos\b/g, 'cientas')
    .replace('quinientos', 'quinientas');
}

function partOfDay(hour: number): string {
  if (hour === 12) return 'del mediodía';
  if (hour > 0 && hour < 6) return 'de la madrugada';
  if (hour === 0 || hour >= 20) return 'de la noche';
  return hour < 12 ? 'de la mañana' : 'de la tarde';
}

/** Spanish. */
export const SPANISH: SpokenLanguage = {
  code: 'es',
  digits: SMALL.slice(0, 10),
  cardinal: spanishCardinal,
  counted: (value, noun) => (FEMININE.has(noun) ? feminine(spanishCardinal(value)) : shortened(spanishCardinal(value))),
  date({ year, month, day, weekday }, withYear) {
    const said = `${day === 1 ? 'primero' : spanishCardinal(day)} de ${SPANISH_MONTHS[month - 1]}`;
    return withYear ? `${said} de ${spanishCardinal(year)}` : `${SPANISH_WEEKDAYS[weekday]} ${said}`;
  },
  time(hour, minute) {
    const hours = (hour % 12 || 12) === 1 ? 'una' : spanishCardinal(hour % 12 || 12);
    return `${hours}${minute === 0 ? '' : ` y ${spanishCardinal(minute)}`} ${partOfDay(hour)}`;
  },
  currencies: {
    EUR: ['euro', 'euros', 'céntimo', 'céntimos'],
    USD: ['dólar', 'dólares', 'centavo', 'centavos'],
    GBP: ['libra', 'libras', 'penique', 'peniques'],
    MXN: ['peso', 'pesos', 'centavo', 'centavos'],
    CHF: ['franco suizo', 'francos suizos', 'céntimo', 'céntimos'],
    JPY: ['yen', 'yenes'],
  },
  partsAnd: ' con ',
  minus: 'menos',
  point: 'coma',
  plus: 'más',
  yes: 'sí',
  no: 'no',
  signs: { '-': 'guion', '.': 'punto', '@': 'arroba', '/': 'barra', _: 'guion bajo', '+': 'más', '#': 'almohadilla' },
};
