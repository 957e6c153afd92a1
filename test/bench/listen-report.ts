/** The page of `bench -- listen`. */
import { LISTEN_ENDPOINT_MS } from './listen-endpoints.ts';
import { type Figures, meanWer, type Noise, noiseOf } from './listen-judge.ts';
import { figure, type Report } from './report.ts';

/** What one endpoint did, and the Twilio calls that ran beside it. */
export interface Compared {
  readonly label: string;
  /** Sessions and calls that were not let in, or broke. */
  readonly refused: number;
  readonly sessions: Figures;
  readonly calls: Figures;
  /** CPU seconds for each second of all sessions, of those calls, too. */
  readonly gatewayCpu: number;
  readonly engineCpu: number;
  /** Share of the time in which the clients' event loop was busy. */
  readonly clientLoopShare: number;
  /** Cores that others on this machine had in use meanwhile. */
  readonly otherCpu: number;
  /** Share of the finals, of the calls, too, whose decode began only when their end was decided. */
  readonly unaheadShare: number;
}

/** More noise than this hides what would matter to somebody who reads captions. */
const QUIET_WER_POINTS = 1;
const QUIET_P50_MS = 50;

/** @param all the first are Twilio calls beside Twilio calls: what differs there is noise */
export function listenReport(
  all: readonly Compared[],
  { sessions, promptsEach }: { readonly sessions: number; readonly promptsEach: number },
): Report {
  const [twins, ...others] = all;
  const groups = [...all.map(({ calls }) => calls), ...(twins === undefined ? [] : [twins.sessions])].filter(
    ({ finals }) => finals > 0,
  );
  const noise = noiseOf(groups);
  return {
    name: 'listen',
    about:
      `${sessions} sessions of each endpoint at once in real time, each of ${promptsEach} human phone prompts, and ` +
      `${sessions} Twilio calls with the same audio beside them. With two voices the prompts are said in turn. Late: ` +
      `from the end of speech to the final, beyond the endpoint silence of ${LISTEN_ENDPOINT_MS} ms.`,
    tables: [finalsTable(all), cpuTable(all), roundsTable(all)],
    notes: [
      `Noise is how far the ${groups.length} groups of Twilio calls, all with the same audio, lie apart: ` +
        `${figure(noise.werPercent, 2)} points of word error rate, ${figure(noise.p50Ms)} ms of p50, ` +
        `${figure(noise.p95Ms)} ms of p95.`,
      'jambonz and /ws/transcribe do not say when speech ended: it is taken from the calls beside them.',
      'The CPU of the Twilio calls beside an endpoint is taken off as the first row has it.',
      'A final is late when the machine has other work, or when its decode began only at the endpoint: it begins in ' +
        'the pause before, unless speech was found too late for that. Clients whose event loop is full send late: ' +
        'their sound stops, and utterances end where nobody paused.',
    ],
    goals: [refusedGoal(all), quietGoal(noise), ...goalsOf(others, noise, meanWer(groups))],
  };
}

function finalsTable(all: readonly Compared[]): Report['tables'][number] {
  const cells = ({ finals, werPercent, p50Ms, p95Ms }: Figures) => [
    finals,
    figure(werPercent, 2),
    figure(p50Ms),
    figure(p95Ms),
  ];
  return {
    title: 'Finals',
    heads: [
      'endpoint',
      'refused',
      ...['finals', 'word error rate, %', 'late p50, ms', 'p95'],
      ...['calls beside: finals', 'word error rate, %', 'late p50, ms', 'p95'],
    ],
    rows: all.map(({ label, refused, sessions, calls }) => [label, refused, ...cells(sessions), ...cells(calls)]),
  };
}

/** Of one session. */
function cpuTable(all: readonly Compared[]): Report['tables'][number] {
  const [twins] = all;
  const share = (whole: number, ofTwins = Number.NaN): string => figure(100 * (whole - ofTwins / 2), 1);
  return {
    title: 'CPU of one session, % of a core',
    heads: ['endpoint', 'gateway', 'engines'],
    rows: all.map(({ label, gatewayCpu, engineCpu }) => [
      label,
      share(gatewayCpu, twins?.gatewayCpu),
      share(engineCpu, twins?.engineCpu),
    ]),
  };
}

function roundsTable(all: readonly Compared[]): Report['tables'][number] {
  return {
    title: 'What makes finals late',
    heads: [
      'round',
      'finals decoded only at the endpoint, %',
      'event loop of the clients in use, %',
      'other work on the machine, % of a core',
    ],
    rows: all.map(({ label, unaheadShare, clientLoopShare, otherCpu }) => [
      label,
      figure(100 * unaheadShare, 1),
      figure(100 * clientLoopShare),
      figure(100 * otherCpu),
    ]),
  };
}

function refusedGoal(all: readonly Compared[]): Report['goals'][number] {
  const refused = all.reduce((sum, each) => sum + each.refused, 0);
  return { goal: 'no session is refused or breaks', found: String(refused), met: refused === 0 };
}

function quietGoal({ werPercent, p50Ms }: Noise): Report['goals'][number] {
  return {
    goal: `noise is at most ${QUIET_WER_POINTS} point and ${QUIET_P50_MS} ms of p50; otherwise the others say little`,
    found: `${figure(werPercent, 2)} points, ${figure(p50Ms)} ms`,
    met: werPercent <= QUIET_WER_POINTS && p50Ms <= QUIET_P50_MS,
  };
}

function goalsOf(others: readonly Compared[], noise: Noise, callsWer: number): Report['goals'] {
  const worst = (unit: string, digits: number, limit: number, beyond: (compared: Compared) => number) => {
    const sorted = others.map((each) => ({ label: each.label, by: beyond(each) })).sort((a, b) => b.by - a.by);
    const shown = sorted.filter(({ by }, at) => at === 0 || !(by <= limit));
    const found = shown
      .map(({ label, by }) => `${label}: ${by > 0 ? '+' : ''}${figure(by, digits)} ${unit}`)
      .join('; ');
    return { found, met: sorted.every(({ by }) => by <= limit) };
  };

  return [
    {
      goal: `word error rate of each at most ${figure(noise.werPercent, 2)} points above that of all calls`,
      ...worst('points', 2, noise.werPercent, ({ sessions }) => sessions.werPercent - callsWer),
    },
    {
      goal: `p50 of each at most ${figure(noise.p50Ms)} ms above that of the calls beside it`,
      ...worst('ms', 0, noise.p50Ms, ({ sessions, calls }) => sessions.p50Ms - calls.p50Ms),
    },
    {
      goal: `p95 of each at most ${figure(noise.p95Ms)} ms above that of the calls beside it`,
      ...worst('ms', 0, noise.p95Ms, ({ sessions, calls }) => sessions.p95Ms - calls.p95Ms),
    },
  ];
}
