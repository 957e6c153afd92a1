/**
 * How much of what is private redaction finds, and how much of what it masks is private: in texts written by hand and
 * by rules, and in what the recogniser makes of them when our own voice says them over the phone.
 */
import type { CaptionEvent, FeedEvent } from '../../src/calls/feed/events.ts';
import { LABELS, type PrivateKind } from '../../src/records/redaction/finding.ts';
import { NO_PATTERNS } from '../../src/records/redaction/own-patterns.ts';
import { StoredCall } from '../../src/records/redaction/stored-call.ts';
import { spokenDigits } from '../../src/transcription/spoken-digits.ts';
import { uniform } from '../helpers/signals.ts';
import { PHONE_SENTENCES } from './phone-sentences.ts';
import { hasPrompts, loadPrompts } from './prompts.ts';
import { dictatedCard, type RedactionCase, redactionCases } from './redaction-cases.ts';
import { figure, quantile, type Report, type Table } from './report.ts';
import { startEngineClient } from './start-engine-client.ts';
import { benchVoice } from './streamed-sentences.ts';
import { decodeWhole, toLineRate } from './whole-recordings.ts';

const SECRET = /\{(\w+):([^}]*)\}/g;
const MASK = /\[([^\]]*)\]/g;
/** Rules were made while looking at 15; figures are of one that nobody has looked at. */
const SEED = 18;
const PAUSE_MS = 2500;
const HELD = 'number';

/** How the texts of a case read: right after each came, and at the end of the call. */
interface Redacted {
  readonly atOnce: readonly string[];
  readonly atEnd: readonly string[];
}

function redact({ asked, said }: RedactionCase): Redacted {
  const call = new StoredCall(NO_PATTERNS);
  const seen = new Map<string, string>();
  const atOnce: string[] = [];
  let nowMs = 0;
  const take = (id: string, event: FeedEvent): void => {
    const { event: stored, rewrites } = call.take(id, event, nowMs);
    for (const { id: name, event: changed } of [{ id, event: stored }, ...rewrites])
      if (changed.type === 'caption') seen.set(name, changed.text);
    nowMs += PAUSE_MS;
  };
  if (asked !== undefined) take('asked', caption(asked, 1, 'outbound'));
  said.forEach((text, index) => {
    take(String(index), caption(text, index + 1, 'inbound'));
    atOnce.push(seen.get(String(index)) ?? '');
  });
  take('end', { type: 'call.ended', callId: 'C', reason: 'hangup', durationMs: 0, handoffData: null });
  return { atOnce, atEnd: said.map((_, index) => seen.get(String(index)) ?? '') };
}

function caption(text: string, utterance: number, track: 'inbound' | 'outbound'): CaptionEvent {
  const times = { startMs: 0, endMs: 0, lagMs: 0 };
  return { type: 'caption', callId: 'C', track, utterance, stable: text, tail: '', text, final: true, ...times };
}

interface Tally {
  secrets: number;
  found: number;
  named: number;
}

/** Missed ones and wrong masks are told one by one. */
interface Found {
  readonly byKind: Map<PrivateKind, Tally>;
  masks: number;
  rightMasks: number;
  readonly misses: string[];
  readonly alarms: string[];
}

function judge(cases: readonly RedactionCase[]): Found {
  const found: Found = { byKind: new Map(), masks: 0, rightMasks: 0, misses: [], alarms: [] };
  for (const one of cases) {
    const plain = one.said.map((text) => text.replace(SECRET, '$2'));
    const { atEnd } = redact({ ...one, said: plain });
    for (const [index, text] of one.said.entries()) judgeText(text, atEnd[index] ?? '', found);
  }
  return found;
}

function judgeText(marked: string, masked: string, found: Found): void {
  const expected = [...marked.matchAll(SECRET)];
  const masks = [...masked.matchAll(MASK)];
  found.masks += masks.length;
  found.rightMasks += Math.min(masks.length, expected.length);
  if (masks.length > expected.length) found.alarms.push(`${marked} → ${masked}`);
  for (const [, kind = '', secret = ''] of expected) {
    const tally = found.byKind.get(kind as PrivateKind) ?? { secrets: 0, found: 0, named: 0 };
    found.byKind.set(kind as PrivateKind, tally);
    tally.secrets++;
    const isLeft = wordsOf(secret).some(
      (word) => wordsOf(masked.replace(MASK, '')).includes(word) && !isAround(marked, word),
    );
    if (isLeft || masks.length === 0) found.misses.push(`${marked} → ${masked}`);
    else tally.found++;
    if (masks.some(([, label]) => label === LABELS[kind as PrivateKind])) tally.named++;
  }
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Words that also stand outside of what is private. */
function isAround(marked: string, word: string): boolean {
  return wordsOf(marked.replace(SECRET, ' ')).includes(word) || ['uh', 'um', 'the', 'of', 'and', 'then'].includes(word);
}

/** Runs the benchmark with `each` generated cases of a kind, and `spoken` of them said to the recogniser. */
export async function benchRedaction({
  each,
  spoken,
}: {
  readonly each: number;
  readonly spoken: number;
}): Promise<Report> {
  const { secret, plain } = redactionCases(each, SEED);
  const [found, alarms] = [judge(secret), judge(plain)];
  const heard = await judgeHeard(secret, plain, spoken);
  const ordinary = [...PHONE_SENTENCES, ...(hasPrompts() ? loadPrompts().map(({ words }) => words.join(' ')) : [])];
  const total = [...found.byKind.values()].reduce(sum, { secrets: 0, found: 0, named: 0 });
  const masks = found.masks + alarms.masks;
  const precision = found.rightMasks / Math.max(masks, 1);
  const recall = total.found / total.secrets;
  for (const line of [...found.misses.map((text) => `missed: ${text}`), ...found.alarms, ...alarms.alarms].slice(0, 60))
    console.log(line);
  return {
    name: 'redaction',
    about: 'What redaction masks of what is private, and of what is not.',
    tables: [
      kindTable(found),
      {
        title: 'Texts',
        heads: ['texts', 'private', 'masked whole', 'recall', 'masks', 'of them right', 'precision'],
        rows: [
          [
            'written and spoken digits',
            total.secrets,
            total.found,
            share(recall),
            masks,
            found.rightMasks,
            share(precision),
          ],
          [
            "recogniser's, of our voice over the phone",
            heard.secrets,
            heard.found,
            share(heard.found / heard.secrets),
            heard.masks,
            heard.rightMasks,
            share(heard.rightMasks / heard.masks),
          ],
        ],
      },
      dictationTable(each),
      ordinaryTable(ordinary),
    ],
    notes: [
      'A number is found when nothing of it can be read at the end of the call; what a mask calls it is counted apart.',
      `${plain.length} of the texts have nothing private: orders, prices, times, quantities, years.`,
    ],
    goals: [
      { goal: 'recall of texts at least 98 %', found: share(recall), met: recall >= 0.98 },
      { goal: 'precision of texts at least 98 %', found: share(precision), met: precision >= 0.98 },
    ],
  };
}

function sum(a: Tally, b: Tally): Tally {
  return { secrets: a.secrets + b.secrets, found: a.found + b.found, named: a.named + b.named };
}

function share(part: number): string {
  return `${figure(100 * part, 1)} %`;
}

function kindTable({ byKind }: Found): Table {
  return {
    title: 'By kind',
    heads: ['kind', 'private', 'masked whole', 'called by its name'],
    rows: [...byKind].map(([kind, { secrets, found, named }]) => [LABELS[kind], secrets, found, named]),
  };
}

/** What of a card number could be read while it was dictated, by the size of its groups. */
function dictationTable(count: number): Table {
  const random = uniform(16);
  const rows = [1, 2, 3, 4, 6, 8].map((size) => {
    const readable: number[] = [];
    let left = 0;
    for (let index = 0; index < count; index++) {
      const said = dictatedCard(random, size).said.map((text) => text.replace(SECRET, '$2'));
      const { atOnce, atEnd } = redact({ said });
      readable.push(spokenDigits(atOnce.join(' ')).count);
      if (spokenDigits(atEnd.join(' ').replace(MASK, '')).count > 0) left++;
    }
    return [size, figure(quantile(readable, 0.5), 0), figure(quantile(readable, 1), 0), share(1 - left / count)];
  });
  return {
    title: 'Card numbers that are dictated in groups, without a word of what they are',
    heads: ['digits in a group', 'digits readable before it was certain, p50', 'most', 'masked whole at the end'],
    rows,
  };
}

/** What it costs those who say nothing private. */
function ordinaryTable(texts: readonly string[]): Table {
  const redacted = texts.map((text) => redact({ said: [text] }));
  const held = redacted.filter(({ atOnce }) => atOnce[0]?.includes(`[${HELD}]`)).length;
  const masked = redacted.filter(({ atEnd }) => MASK.test(atEnd[0] ?? '')).length;
  return {
    title: 'Ordinary sentences: of apps, and of human prompts',
    heads: ['sentences', 'held for some seconds', 'masked at the end'],
    rows: [[texts.length, `${held} (${share(held / texts.length)})`, `${masked} (${share(masked / texts.length)})`]],
  };
}

interface Heard {
  secrets: number;
  found: number;
  masks: number;
  rightMasks: number;
}

/** Says cases of one utterance and reads what the recogniser makes of them. */
async function judgeHeard(
  secret: readonly RedactionCase[],
  plain: readonly RedactionCase[],
  count: number,
): Promise<Heard> {
  const all = [
    ...spread(secret.filter(isSpeakable), count),
    ...spread(plain.filter(isSpeakable), Math.ceil(count / 2)),
  ];
  const { voice, environment } = benchVoice();
  const engine = await startEngineClient(1, environment);
  const recordings: Int16Array[] = [];
  for (const { said } of all) {
    const text = said.join(' ').replace(SECRET, '$2');
    const sound = await engine.speak({ text, voice, speed: 1, urgency: 'batch', dueInMs: 600_000 });
    recordings.push(toLineRate(sound.samples, sound.rateHz));
  }
  await engine.close();
  const texts = await decodeWhole(recordings);
  const heard: Heard = { secrets: 0, found: 0, masks: 0, rightMasks: 0 };
  all.forEach(({ asked, said }, index) => {
    const [masked = ''] = redact({ said: [texts[index] ?? ''], ...(asked !== undefined && { asked }) }).atEnd;
    const expected = [...said.join(' ').matchAll(SECRET)].length;
    const masks = [...masked.matchAll(MASK)].length;
    const left = spokenDigits(masked.replace(MASK, ' ')).count;
    const isFound = expected > 0 && masks > 0 && left <= spokenDigits(said.join(' ').replace(SECRET, ' ')).count;
    heard.secrets += Math.min(expected, 1);
    heard.found += Number(isFound);
    heard.masks += masks;
    heard.rightMasks += Math.min(masks, expected);
    if (isFound !== expected > 0 || masks > expected)
      console.log(`heard: ${texts[index]} → ${masked}   (${said.join(' ')})`);
  });
  return heard;
}

/** Our voice reads a long number in one piece as billions, which nobody says. */
function isSpeakable({ said }: RedactionCase): boolean {
  return said.length === 1 && !/\d{7}/.test(said.join(' '));
}

function spread<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(Math.floor(items.length / count), 1);
  return items.filter((_, index) => index % step === 0).slice(0, count);
}
