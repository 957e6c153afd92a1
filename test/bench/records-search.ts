/** How long searches take, by what is searched for. */
import { systemClock } from '../../src/foundation/clock.ts';
import type { RecordsDatabase } from '../../src/records/records-database.ts';
import type { CallFilter } from '../../src/records/search/call-filter.ts';
import { CallLists } from '../../src/records/search/call-lists.ts';
import { parseSearch } from '../../src/records/search/search-query.ts';
import { StoredCalls } from '../../src/records/stored-calls.ts';
import { seededRandom } from '../../src/simulator/random.ts';
import { storeCaptions } from './records-captions.ts';
import { WORDS } from './records-words.ts';
import type { Report, Table } from './report.ts';

const GOAL_MS = 50;
const SLICE_GOAL_MS = 20;
const FEW_CALLS = 1000;
const PAGE_CALLS = 100;

/** A word of that rank or a little more. */
type Draw = (rank: number) => string;

interface SearchKind {
  readonly name: string;
  typed(draw: Draw): string;
  readonly filter?: CallFilter;
}

const KINDS: readonly SearchKind[] = [
  { name: 'a rare word', typed: (draw) => draw(15_000) },
  { name: 'a word of the middle', typed: (draw) => draw(1500) },
  { name: 'two words of the middle', typed: (draw) => `${draw(700)} ${draw(900)}` },
  { name: 'a frequent and a rare word', typed: (draw) => `${draw(10)} ${draw(12_000)}` },
  { name: 'one OR other', typed: (draw) => `${draw(4000)} OR ${draw(9000)}` },
  { name: 'a phrase of frequent words', typed: (draw) => `"${draw(0)} ${draw(5)} ${draw(10)} ${draw(15)}"` },
  { name: 'a beginning of 3 letters', typed: (draw) => `${draw(3000).slice(0, 3)}* ${draw(5000)}` },
  { name: 'a beginning of 5 letters', typed: (draw) => `${draw(2000).slice(0, 5)}*` },
  { name: 'frequent, and one excluded', typed: (draw) => `${draw(3)} -${draw(8)}` },
  { name: 'the most frequent word', typed: () => 'the' },
  { name: 'a word that nobody said', typed: () => 'xylophone' },
  { name: 'a rare word, in one queue', typed: (draw) => draw(15_000), filter: { queue: 'sales' } },
  { name: 'a frequent word, by a rare carrier', typed: (draw) => draw(3), filter: { carrier: 'sip' } },
];

interface Measured {
  readonly kind: string;
  readonly tookMs: number;
  /** Of all threads: unlike the time, other programs on the machine hardly change it. */
  readonly cpuMs: number;
  readonly slowestSliceMs: number;
  /** At most one more than {@link FEW_CALLS}. */
  readonly calls: number;
}

/** Fills `database` and searches in it. */
export async function measureSearch(
  database: RecordsDatabase,
  { captions, rounds }: { captions: number; rounds: number },
): Promise<Pick<Report, 'tables' | 'goals'>> {
  await storeCaptions(database, captions);
  const calls = new StoredCalls(database, async () => undefined);
  const lists = new CallLists({ database, clock: systemClock, calls, live: () => null });
  const random = seededRandom(3);
  const draw: Draw = (rank) => WORDS[Math.min(rank + Math.floor(random() * (rank / 3 + 3)), WORDS.length - 1)] ?? '';
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round++)
    for (const kind of KINDS) measured.push(await measure(lists, kind, kind.typed(draw)));
  const title = `${captions.toLocaleString('en')} captions in ${database.kind}, ${rounds} searches of each kind`;
  const narrow = measured.filter(({ calls }) => calls <= FEW_CALLS);
  const few = narrow.map(({ tookMs }) => tookMs);
  const slices = measured.map(({ slowestSliceMs }) => slowestSliceMs);
  return {
    tables: [tableOf(title, measured, narrow)],
    goals: [
      {
        goal: `p95 of searches with at most ${FEW_CALLS} calls ≤ ${GOAL_MS} ms (${title})`,
        found: `${ms(percentile(few, 0.95))} ms`,
        met: percentile(few, 0.95) <= GOAL_MS,
      },
      // In PostgreSQL nothing waits for a slice.
      ...(database.kind === 'sqlite' ? [sliceGoal(title, percentile(slices, 0.99))] : []),
    ],
  };
}

function sliceGoal(title: string, p99Ms: number): Report['goals'][number] {
  return {
    goal: `p99 of the slowest slice of a search ≤ ${SLICE_GOAL_MS} ms (${title})`,
    found: `${ms(p99Ms)} ms`,
    met: p99Ms <= SLICE_GOAL_MS,
  };
}

async function measure(lists: CallLists, { name, filter = {} }: SearchKind, typed: string): Promise<Measured> {
  const query = parseSearch(typed);
  const nowhere = { list: () => [], get: () => undefined };
  const cpuBefore = process.cpuUsage();
  const beganMs = systemClock.nowMs();
  await lists.searchPage(nowhere, query, filter, { belowSeq: null, limit: PAGE_CALLS });
  const tookMs = systemClock.nowMs() - beganMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  let [calls, slowestSliceMs, sliceMs] = [0, 0, systemClock.nowMs()];
  for await (const found of lists.texts.find({ query, filter, belowSeq: null })) {
    slowestSliceMs = Math.max(slowestSliceMs, systemClock.nowMs() - sliceMs);
    calls += found.length;
    if (calls > FEW_CALLS) break;
    sliceMs = systemClock.nowMs();
  }
  return { kind: name, tookMs, cpuMs: (user + system) / 1000, slowestSliceMs, calls: Math.min(calls, FEW_CALLS + 1) };
}

function tableOf(title: string, measured: readonly Measured[], narrow: readonly Measured[]): Table {
  const rows = KINDS.map(({ name }) => {
    const ofKind = measured.filter(({ kind }) => kind === name);
    return rowOf(name, ofKind);
  });
  const heads = [
    'what',
    'searches',
    'calls, median',
    'p50 ms',
    'p95 ms',
    'CPU p50 ms',
    'CPU p95 ms',
    'slowest slice ms',
  ];
  return { title, heads, rows: [...rows, rowOf('all with at most 1,000 calls', narrow)] };
}

function rowOf(name: string, measured: readonly Measured[]): (string | number)[] {
  const took = measured.map(({ tookMs }) => tookMs);
  const cpu = measured.map(({ cpuMs }) => cpuMs);
  const calls = percentile(
    measured.map((each) => each.calls),
    0.5,
  );
  const slowest = Math.max(...measured.map(({ slowestSliceMs }) => slowestSliceMs));
  const shown = calls > FEW_CALLS ? `more than ${FEW_CALLS}` : calls;
  const shares = [took, cpu].flatMap((values) => [ms(percentile(values, 0.5)), ms(percentile(values, 0.95))]);
  return [name, took.length, shown, ...shares, ms(slowest)];
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.ceil(sorted.length * share), sorted.length) - 1] ?? 0;
}

function ms(value: number): string {
  return value.toFixed(1);
}
