/** What rules make of pauses whose kind is known: the delay of whole turns, and which cuts are held. */

import { grammarHold } from '../../src/transcription/open-ended.ts';
import { type DigitsExpected, type TurnSettings, turnLimit } from '../../src/transcription/turn-policy.ts';
import { readSettings } from '../helpers/settings.ts';
import { figure, mean, type Table } from './report.ts';
import { NUMBER_DIGITS } from './turn-cases.ts';
import { ASKED_AT_MS, type Pause, SILENCES_MS } from './turn-pauses.ts';

/** With its answer, a decision that ends a turn early comes after about this much silence. */
const EARLY_MS = 240;
const AT = SILENCES_MS.indexOf(ASKED_AT_MS);

/** A rule: after how much silence a pause ends the turn. */
export interface Rule {
  readonly name: string;
  endsAfterMs(pause: Pause): number;
}

/** What the model says at the silence at which it is asked on calls. */
export function probabilityOf({ probabilities }: Pause): number {
  return probabilities[AT] ?? Number.NaN;
}

const DEFAULTS: TurnSettings = readSettings({});

const holds = ({ text }: Pause): boolean => grammarHold(text, 'en') !== null;
const surelyHolds = ({ text }: Pause): boolean => grammarHold(text, 'en') === 'surely';
const isQuestion = ({ text }: Pause): boolean => text.trim().endsWith('?');
const heldWhere = (isHeld: (pause: Pause) => boolean) => (pause: Pause) =>
  isHeld(pause) ? DEFAULTS.TURN_HOLD_MS : DEFAULTS.ENDPOINT_MS;

/** The rule that the gateway has, under `changes` to its settings. */
function gatewayRule(changes: Partial<TurnSettings>, expected: DigitsExpected | null = null): Rule['endsAfterMs'] {
  const settings = { ...DEFAULTS, ...changes };
  return (pause) => {
    const evidence = { probability: probabilityOf(pause), text: pause.text, language: 'en', expected };
    return Math.max(turnLimit(evidence, settings).silenceMs, EARLY_MS);
  };
}

/** The rules that are compared. */
export const RULES: readonly Rule[] = [
  { name: 'fixed 400 ms', endsAfterMs: () => DEFAULTS.ENDPOINT_MS },
  { name: 'fixed 900 ms', endsAfterMs: () => DEFAULTS.TURN_HOLD_MS },
  { name: 'hold p < 0.1', endsAfterMs: heldWhere((pause) => probabilityOf(pause) < 0.1) },
  { name: 'hold p < 0.2', endsAfterMs: heldWhere((pause) => probabilityOf(pause) < 0.2) },
  { name: 'hold p < 0.3', endsAfterMs: heldWhere((pause) => probabilityOf(pause) < 0.3) },
  { name: 'hold p < 0.5', endsAfterMs: heldWhere((pause) => probabilityOf(pause) < 0.5) },
  { name: 'hold after open words', endsAfterMs: heldWhere(holds) },
  { name: 'hold after words that nobody ends with', endsAfterMs: heldWhere(surelyHolds) },
  {
    name: 'hold p < 0.2, or open word',
    endsAfterMs: heldWhere((pause) => probabilityOf(pause) < 0.2 || holds(pause)),
  },
  {
    name: 'hold p < 0.2, or open word; not behind "?"',
    endsAfterMs: heldWhere((pause) => (probabilityOf(pause) < 0.2 || holds(pause)) && !isQuestion(pause)),
  },
  {
    name: 'hold p < 0.2, or open word and p < 0.5',
    endsAfterMs: heldWhere((pause) => probabilityOf(pause) < (holds(pause) ? 0.5 : 0.2)),
  },
  { name: "the gateway's default", endsAfterMs: gatewayRule({}) },
  {
    name: `the gateway's, ${NUMBER_DIGITS} digits expected`,
    endsAfterMs: gatewayRule({}, { min: NUMBER_DIGITS, max: NUMBER_DIGITS }),
  },
  { name: "the gateway's, early p > 0.95", endsAfterMs: gatewayRule({ TURN_EARLY_ABOVE: 0.95 }) },
  { name: "the gateway's, early p > 0.9", endsAfterMs: gatewayRule({ TURN_EARLY_ABOVE: 0.9 }) },
];

const isCut = ({ kind }: Pause): boolean => kind.startsWith('cut');

/** Shares of whole turns and cuts under each rule. */
export function ruleTable(pauses: readonly Pause[]): Table {
  const of = (isMeant: (pause: Pause) => boolean) => pauses.filter(isMeant);
  const complete = of(({ kind }) => kind === 'complete');
  const share = (among: readonly Pause[], isMeant: (pause: Pause) => boolean): string =>
    `${figure((100 * among.filter(isMeant).length) / among.length)} %`;
  return {
    title: 'Rules: decided once, after 192 ms of silence',
    heads: [
      'rule',
      'whole turns ended early',
      'whole turns delayed',
      'mean wait of whole turns, ms',
      'cuts held',
      'of them after an open word',
      'cuts ended early',
      'inner pauses held',
      'fragments held',
      'groups of digits held',
    ],
    rows: RULES.map(({ name, endsAfterMs }) => {
      const isEarly = (pause: Pause) => endsAfterMs(pause) < DEFAULTS.ENDPOINT_MS;
      const isHeld = (pause: Pause) => endsAfterMs(pause) > DEFAULTS.ENDPOINT_MS;
      return [
        name,
        share(complete, isEarly),
        share(complete, isHeld),
        figure(mean(complete.map(endsAfterMs))),
        share(of(isCut), isHeld),
        share(
          of(({ kind }) => kind === 'cut after an open word'),
          isHeld,
        ),
        share(of(isCut), isEarly),
        share(
          of(({ kind }) => kind === 'inner pause'),
          isHeld,
        ),
        share(
          of(({ kind }) => kind === 'fragment'),
          isHeld,
        ),
        share(
          of(({ kind }) => kind === 'group of digits'),
          isHeld,
        ),
      ];
    }),
  };
}

/** How well the model tells whole turns from the others, by the silence that it is asked after. */
export function silenceTable(pauses: readonly Pause[]): Table {
  const at = (kind: Pause['kind'], index: number): number[] =>
    pauses
      .filter((pause) => pause.kind === kind)
      .map(({ probabilities }) => probabilities[index] ?? Number.NaN)
      .filter(Number.isFinite);
  const kinds = [
    'cut',
    'cut after an open word',
    'inner pause',
    'fragment',
    'group of digits',
    'whole number',
  ] as const;
  return {
    title: 'What the model says, by the silence that it is asked after',
    heads: [
      'silence',
      `whole turns p > 0.5 (${at('complete', 0).length})`,
      ...kinds.map((kind) => `${kind} p > 0.5, AUC (${at(kind, AT).length})`),
    ],
    rows: SILENCES_MS.map((silenceMs, index) => {
      const complete = at('complete', index);
      return [
        `${silenceMs} ms`,
        shareAbove(complete),
        ...kinds.map((kind) => `${shareAbove(at(kind, index))}, ${figure(areaUnder(complete, at(kind, index)), 2)}`),
      ];
    }),
  };
}

/** How often the last word before a pause is one after which a phrase goes on. */
export function grammarTable(pauses: readonly Pause[]): Table {
  const kinds = ['complete', 'cut', 'cut after an open word', 'inner pause', 'fragment'] as const;
  return {
    title: 'Open last words, as understood',
    heads: ['', 'pauses', 'open last word', 'of those with p ≥ 0.2'],
    rows: kinds.map((kind) => {
      const all = pauses.filter((pause) => pause.kind === kind);
      const unsure = all.filter((pause) => probabilityOf(pause) >= 0.2);
      const share = (among: readonly Pause[]) => `${figure((100 * among.filter(holds).length) / among.length)} %`;
      return [kind, all.length, share(all), `${share(unsure)} (${unsure.filter(holds).length} of ${unsure.length})`];
    }),
  };
}

function shareAbove(values: readonly number[]): string {
  return `${figure((100 * values.filter((value) => value > 0.5).length) / values.length)} %`;
}

/** The probability that a whole turn has the higher value, of two drawn at random; ties count half. */
function areaUnder(whole: readonly number[], others: readonly number[]): number {
  const wins = whole.map((a) => others.reduce((sum, b) => sum + (a > b ? 1 : a === b ? 0.5 : 0), 0));
  return wins.reduce((sum, won) => sum + won, 0) / (whole.length * others.length);
}
