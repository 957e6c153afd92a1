/** Answers of callers to questions of an IVR, and what they mean. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWav } from '../../src/audio/wav.ts';
import type { FlowValue } from '../../src/flows/file/conditions.ts';
import { chooseSpoken } from '../../src/flows/understand/choices.ts';
import { expectedAnswer, expectedChoice } from '../../src/flows/understand/expected-answers.ts';
import type { Question } from '../../src/flows/understand/question.ts';
import { understand } from '../../src/flows/understand/understand.ts';
import type { ExpectedAnswer } from '../../src/transcription/expected-answer.ts';
import { LINE_RATE_HZ } from '../helpers/signals.ts';
import { concatenate } from './prompts.ts';

/** Kinds of questions; `menu` is the verb's, with keys. */
export type AnswerKind = Question['kind'] | 'menu';

/** An answer; `value` null = it is none, and must not be taken for one. */
export interface SpokenAnswer {
  readonly kind: AnswerKind;
  readonly text: string;
  readonly value: FlowValue;
}

/** A Monday. */
const NOW = new Date('2026-11-23T12:00:00Z');
const LANGUAGE = 'en-US';

const MENU = {
  sales: { key: '1', say: ['sales department', 'buy something'] },
  support: { key: '2', say: ['technical support', 'help', 'a problem'] },
  billing: { key: '3', say: ['invoice', 'payment', 'my bill'] },
  openingHours: { key: '4', say: ['hours', 'when are you open'] },
  operator: { key: '0', say: ['agent', 'a person', 'somebody'] },
};
/** The words that Asterisk's prompts have for folders. */
const FOLDERS = { new: [], old: [], work: [], family: [], friends: [], urgent: [] };

const rows = (kind: AnswerKind, cases: readonly (readonly [string, FlowValue])[]): SpokenAnswer[] =>
  cases.map(([text, value]) => ({ kind, text, value }));

/** What synthetic voices say. */
export const ANSWERS: readonly SpokenAnswer[] = [
  ...rows('menu', [
    ['Sales.', 'sales'],
    ['Sales, please.', 'sales'],
    ['I would like to speak to the sales department.', 'sales'],
    ['Support.', 'support'],
    ['Technical support, please.', 'support'],
    ['I have a problem with my phone.', 'support'],
    ['Billing.', 'billing'],
    ['I have a question about an invoice.', 'billing'],
    ['It is about my payment.', 'billing'],
    ['Opening hours.', 'openingHours'],
    ['When are you open?', 'openingHours'],
    ['Operator.', 'operator'],
    ['I want to talk to a person.', 'operator'],
    ['An agent, please.', 'operator'],
    ['Option two.', 'support'],
    ['Number three.', 'billing'],
    ['The first one.', 'sales'],
    ['Not sales, but support.', 'support'],
    ['None of these.', null],
    ['Sales or billing.', null],
    ['What is the weather like today?', null],
    ['I do not know.', null],
    ['My dog is called Charlie.', null],
    ['Can you repeat that, please?', null],
  ]),
  ...rows('yesNo', [
    ['Yes.', true],
    ['Yes, please.', true],
    ['Yeah, that is right.', true],
    ['Correct.', true],
    ['Of course.', true],
    ['No.', false],
    ['No, thank you.', false],
    ['That is not right.', false],
    ['Not really.', false],
    ['I do not think so.', false],
    ['I do not know.', null],
    ['What did you say?', null],
  ]),
  ...rows('digits', [
    ['Four eight two one three.', '48213'],
    ['Double five, seven, oh nine.', '55709'],
    ['One two three four five.', '12345'],
    ['Nine zero six six eight.', '90668'],
    ['Thirty one, twenty four, seven.', '31247'],
    ['It is eight four oh two one.', '84021'],
  ]),
  ...rows('number', [
    ['Four.', 4],
    ['Twelve people.', 12],
    ['Two hundred and fifty.', 250],
    ['One thousand three hundred.', 1300],
    ['Two and a half.', 2.5],
    ['Fifteen.', 15],
    ['Fifty.', 50],
  ]),
  ...rows('date', [
    ['Tomorrow.', '2026-11-24'],
    ['Next Friday.', '2026-11-27'],
    ['On the third of May.', '2027-05-03'],
    ['December twenty first.', '2026-12-21'],
    ['In two weeks.', '2026-12-07'],
    ['Tuesday next week.', '2026-12-01'],
    ['January fifth, twenty twenty seven.', '2027-01-05'],
    ['The fifteenth.', '2026-12-15'],
  ]),
  ...rows('time', [
    ['Half past nine.', '09:30'],
    ['Quarter to five in the afternoon.', '16:45'],
    ['Nine thirty in the morning.', '09:30'],
    ['Three p m.', '15:00'],
    ['At noon.', '12:00'],
    ["Eight o'clock.", '08:00'],
    ['Ten fifteen.', '10:15'],
  ]),
  ...rows('amount', [
    ['Twelve dollars and fifty cents.', 'USD 12.50'],
    ['Twenty euros.', 'EUR 20.00'],
    ['One hundred and five dollars.', 'USD 105.00'],
    ['Ninety nine cents.', 'USD 0.99'],
    ['Twelve fifty.', 'USD 12.50'],
  ]),
  ...rows('phone', [
    ['Four one five, five five five, zero one three two.', '4155550132'],
    ['Plus four four, two zero, seven nine four six, zero nine five eight.', '+442079460958'],
    ['Eight hundred, five five five, zero one nine nine.', '8005550199'],
  ]),
];

/** How many digits and which are asked for, as flows do. */
const LIMITS: Partial<Record<AnswerKind, Pick<Question, 'min' | 'max'>>> = { digits: { min: 5, max: 5 } };

/** What `heard` means as an answer to the question of `kind`. */
export function meaning(kind: AnswerKind, heard: string): FlowValue {
  if (kind === 'menu') return chooseSpoken(heard, MENU, LANGUAGE);
  return understand(heard, questionOf(kind))?.value ?? null;
}

/** What the recogniser is told of the question of `kind`. */
export function expectationOf(kind: AnswerKind): ExpectedAnswer | null {
  return kind === 'menu' ? expectedChoice(MENU, LANGUAGE) : expectedAnswer(questionOf(kind));
}

function questionOf(kind: Question['kind']): Question {
  return { kind, language: LANGUAGE, now: NOW, choices: FOLDERS, ...LIMITS[kind] };
}

const SOUNDS = '/usr/share/asterisk/sounds/en_US_f_Allison';
const GAP = new Int16Array(LINE_RATE_HZ / 10);

/** What a person says: recordings of words, one after the other. */
const HUMAN: readonly (SpokenAnswer & { readonly files: readonly string[] })[] = [
  ...Object.keys(FOLDERS).map((folder) => ({
    kind: 'choice' as const,
    text: folder,
    value: folder,
    files: [`vm-${folder === 'new' ? 'INBOX' : folder.charAt(0).toUpperCase() + folder.slice(1)}`],
  })),
  human('yesNo', 'no', false, 'vm-no'),
  ...[0, 1, 2, 3, 4, 5, 6].map((day) =>
    human('date', `weekday ${day}`, `2026-11-${day === 1 ? 30 : day === 0 ? 29 : 22 + day}`, `digits/day-${day}`),
  ),
  human('date', 'today', '2026-11-23', 'digits/today'),
  human('date', 'tomorrow', '2026-11-24', 'digits/tomorrow'),
  ...Array.from({ length: 12 }, (_, month) => {
    const day = month + 1;
    const [year, written] = [month < 10 ? 2027 : 2026, String(month + 1).padStart(2, '0')];
    const value = `${month === 10 ? 2027 : year}-${written}-${String(day).padStart(2, '0')}`;
    return human('date', `${day}/${written}`, value, `digits/mon-${month}`, `digits/h-${day}`);
  }),
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((first) => {
    const digits = [0, 3, 7, 1, 6].map((step) => (first + step) % 10);
    return human('digits', digits.join(''), digits.join(''), ...digits.map((digit) => `digits/${digit}`));
  }),
  ...[1, 2, 3, 7, 10, 11, 13, 15, 18, 20, 30, 50, 80].map((n) => human('number', String(n), n, `digits/${n}`)),
  ...[21, 45, 99].map((n) => human('number', String(n), n, `digits/${Math.floor(n / 10) * 10}`, `digits/${n % 10}`)),
  human('number', '250', 250, 'digits/2', 'digits/hundred', 'digits/50'),
  ...[7, 9, 10, 11].map((hour) =>
    human('time', `${hour}:30 am`, `${String(hour).padStart(2, '0')}:30`, `digits/${hour}`, 'digits/30', 'digits/a-m'),
  ),
  ...[1, 3, 5, 8].map((hour) => human('time', `${hour} pm`, `${hour + 12}:00`, `digits/${hour}`, 'digits/p-m')),
  human('amount', '20 dollars', 'USD 20.00', 'digits/20', 'digits/dollars'),
];

function human(kind: AnswerKind, text: string, value: FlowValue, ...files: string[]) {
  return { kind, text, value, files };
}

/** The answers of a person that are installed, and how many are not. */
export function loadHumanAnswers(): {
  readonly answers: readonly (SpokenAnswer & { readonly samples: Int16Array })[];
  readonly missing: number;
} {
  const answers = HUMAN.flatMap(({ files, ...answer }) => {
    const parts = files.map((file) => readSound(join(SOUNDS, `${file}.wav`)));
    const sounds = parts.filter((part) => part !== null);
    return sounds.length < files.length ? [] : { ...answer, samples: concatenate(sounds.flatMap((s) => [GAP, s])) };
  });
  return { answers, missing: HUMAN.length - answers.length };
}

function readSound(path: string): Int16Array | null {
  if (!existsSync(path)) return null;
  const { channels, rateHz } = readWav(readFileSync(path));
  return rateHz === LINE_RATE_HZ ? (channels[0] ?? null) : null;
}
