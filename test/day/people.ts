/** Who works at and who calls Harbor Internet, a company that we made up. Their numbers belong to nobody. */

/** Somebody at a desk, with the queues that they answer. */
export interface Agent {
  readonly name: string;
  /** As the parameter `agent` says it. */
  readonly id: string;
  readonly queues: readonly string[];
}

const TEAMS: Readonly<Record<string, string>> = {
  Support:
    'Tom Byrne,Aoife Kelly,Kenji Watanabe,Ines Duarte,Ciarán Walsh,Fatima Noor,Lukas Brandt,Niamh Doyle,Omar Haddad',
  Billing: 'Anna Lindqvist,Declan Murphy,Priya Raman,Marek Nowak,Sinéad Burke',
  Sales: 'Grace Adeyemi,Jonas Weber,Róisín Flynn,Diego Marín',
  Retention: 'Helen O’Connor,Samuel Osei,Mei Lin Chen',
};

/** Everybody who answers calls. */
export const AGENTS: readonly Agent[] = Object.entries(TEAMS).flatMap(([queue, names]) =>
  names
    .split(',')
    .map((name) => ({ name, id: idOf(name), queues: queue === 'Retention' ? [queue, 'Billing'] : [queue] })),
);

function idOf(name: string): string {
  const [first = name] = name.split(' ');
  return first
    .normalize('NFD')
    .replace(/[^A-Za-z]/g, '')
    .toLowerCase();
}

/** The one who looks after all of them. */
export const SUPERVISOR = 'Maeve Gallagher';

const FIRST = (
  'Maria Patrick Siobhán James Ewa Conor Olga Brian Chloe Sean Fatou Liam Zofia Eoin Rashida Peter Gráinne ' +
  'Mohammed Julia Kevin Bláthnaid Hans Adaeze Michael Yuki Orla Pavel Deirdre Carlos Emma Tadhg Ingrid ' +
  'Noel Shauna Viktor Clare'
).split(' ');
const LAST = (
  'Keller,O’Brien,Murphy,Kowalska,Fitzgerald,Ní Dhomhnaill,Okafor,Petrov,Hughes,McCarthy,van den Berg,Nguyen,' +
  'Sheridan,Walsh,Quinn,Rossi,Doherty,Yılmaz,Kavanagh,Lee,Moran,Papadopoulou,Hayes,Wójcik,Brennan,Khan,' +
  'Healy,Schmidt,Cullen,Silva'
).split(',');
/** Names that a page has to cope with. */
const RARE = ['Wolfeschlegelsteinhausenbergerdorff', 'דנה לוי', 'ليلى حداد', 'Nguyễn Thị Minh Khai', '王小明'];

const TOWNS = 'Galway,Cork,Sligo,Ennis,Tralee,Athlone,Kilkenny,Letterkenny,Dundalk,Wexford,Mullingar,Westport'.split(
  ',',
);
const STREETS =
  'Main Street,Church Road,Mill Lane,Castle Street,Bridge Street,Abbey Road,Harbour View,Shannon Park'.split(',');
const DAYS = 'Monday,Tuesday,Wednesday,Thursday,Friday,Saturday'.split(',');
const MONTHS = 'January,February,March,April,May,June,July,August,September,October,November,December'.split(',');
const DIGITS = 'zero one two three four five six seven eight nine'.split(' ');
/** Numbers of cards that are published for tests; they charge nobody. */
const CARDS = ['4111111111111111', '5555555555554444', '4000056655665556'];
const IBANS = ['IE29 AIBK 9311 5212 3456 78', 'DE89 3704 0044 0532 0130 00'];

/** Numbers from 0 to 1. */
export type Random = () => number;

/** One of `all`. @throws Error when it is empty */
export function pick<T>(all: readonly T[], random: Random): T {
  const found = all[Math.floor(random() * all.length)];
  if (found === undefined) throw new Error('expected something to choose from, got an empty list');
  return found;
}

/** A whole number from `low` to `high`. */
export function between(low: number, high: number, random: Random): number {
  return low + Math.floor(random() * (high - low + 1));
}

/** A caller's name; now and then one that is hard to show. */
export function callerName(random: Random): string {
  return random() < 0.006 ? pick(RARE, random) : `${pick(FIRST, random)} ${pick(LAST, random)}`;
}

/** A number of Ireland's range for drama (020 91x xxxx), or of Britain's, for whoever calls from there. */
export function callerNumber(random: Random): string {
  return random() < 0.85 ? `+353209${between(130_000, 139_999, random)}` : `+44770090${between(1000, 9999, random)}`;
}

/** What stands in braces in the dialogues, for one call. */
export function details(who: { readonly agent: string; readonly caller: string; readonly at: Date }, random: Random) {
  const [first = 'Kim', last = 'Doe'] = who.caller.split(' ');
  const address = `${first}.${last}`.normalize('NFD').replace(/[^A-Za-z.]/g, '');
  const date = (): string => `the ${between(1, 28, random)}th of ${pick(MONTHS, random)}`;
  return {
    agent: who.agent.split(' ')[0] ?? who.agent,
    caller: who.caller,
    daytime: who.at.getUTCHours() < 12 ? 'morning' : 'afternoon',
    town: pick(TOWNS, random),
    street: pick(STREETS, random),
    number: String(between(2, 140, random)),
    day: pick(DAYS, random),
    month: pick(MONTHS, random),
    date: date(),
    birth: `${date()} nineteen ${between(60, 95, random)}`,
    time: pick(['noon', 'two o’clock', 'four o’clock', 'half past five'], random),
    amount: String(between(5, 60, random)),
    amount2: String(between(25, 90, random)),
    order: String(between(10_000_000, 99_999_999, random)),
    code: String(between(1000, 9999, random)),
    ending: String(between(100, 999, random)),
    speed: pick(['100', '250', '500'], random),
    years: String(between(4, 19, random)),
    age: String(between(74, 93, random)),
    place: String(between(2, 9, random)),
    phone: callerNumber(random),
    email: `${address === '.' ? 'kim.doe' : address.toLowerCase()}@example.ie`,
    cardWords: [...pick(CARDS, random)].map((digit) => DIGITS[Number(digit)]).join(' '),
    expiry: `${between(1, 12, random)} ${between(27, 31, random)}`,
    cvc: [1, 2, 3].map(() => pick(DIGITS, random)).join(' '),
    iban: pick(IBANS, random),
  } as const;
}
