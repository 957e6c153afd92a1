/** What records cost a gateway with live calls: two gateways, with and without, take the same calls in turns. */
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, metricValue, startGateway, usageOf } from '../helpers/gateway.ts';
import { promptConversation } from './prompts.ts';
import type { RecordsPlaces } from './records-places.ts';
import { figure, quantile, type Report } from './report.ts';
import { loadSpeech } from './speech-set.ts';

const CALLS = 20;
const SPEECH_SHARE = 0.45;
const STAGGER_MS = 61;
const SECONDS_PER_HOUR = 3600;
/** So that nothing but the gateway works. */
const TONES = { ASR_MODEL: 'tone', VAD_MODEL: 'tone', TTS_MODEL: 'tone', ENGINE_WORKERS: '1', MAX_CALLS: '100' };
/** The loop is looked at every 5 ms. Less than this is not told from chance. */
const LAG_MORE_MAX_MS = 1;

interface Round {
  readonly lagP50Ms: number;
  readonly lagP99Ms: number;
  readonly cpuSeconds: number;
  readonly written: number;
}

/** Rounds of 20 calls of so many seconds, of each kind. */
export interface LiveCallsOptions {
  readonly seconds: number;
  readonly rounds: number;
}

/** Runs the rounds. */
export async function measureLiveCalls(
  places: RecordsPlaces,
  { seconds, rounds }: LiveCallsOptions,
): Promise<Pick<Report, 'tables' | 'goals'>> {
  const { prompts } = await loadSpeech();
  const said = Array.from({ length: CALLS }, (_, n) => promptConversation(prompts, seconds, SPEECH_SHARE, 1000 + n));
  const gateways: GatewayProcess[] = [];
  const found: Round[][] = [[], []];
  try {
    for (const environment of [{}, (await places.make()).environment])
      gateways.push(await startGateway({ ...TONES, ...environment }));
    // The first calls load code and fill caches.
    for (const gateway of gateways) await runRound(gateway, said);
    for (let n = 0; n < 2 * rounds; n++) {
      const gateway = gateways[n % 2];
      if (gateway !== undefined) found[n % 2]?.push(await runRound(gateway, said));
    }
  } finally {
    for (const gateway of gateways) await gateway.stop();
  }
  return report(places.name, { seconds, rounds }, found);
}

async function runRound(gateway: GatewayProcess, said: readonly Int16Array[]): Promise<Round> {
  // Reading the metrics begins a new window of the event loop's figures.
  const before = await gateway.metrics();
  const cpuBefore = usageOf(gateway.pid).cpuSeconds;
  await Promise.all(said.map((inbound, index) => placeOne(gateway.url, inbound, index)));
  const cpuSeconds = usageOf(gateway.pid).cpuSeconds - cpuBefore;
  const after = await gateway.metrics();
  const written = 'trunkline_records_written_total';
  return {
    lagP50Ms: 1000 * metricValue(after, 'nodejs_eventloop_lag_p50_seconds'),
    lagP99Ms: 1000 * metricValue(after, 'nodejs_eventloop_lag_p99_seconds'),
    cpuSeconds,
    written: metricValue(after, written) - metricValue(before, written),
  };
}

async function placeOne(url: string, inbound: Int16Array, index: number): Promise<void> {
  await sleep(systemClock, index * STAGGER_MS);
  const caller = new TwilioCaller({
    url: `${url.replace(/^http/, 'ws')}/twilio/media`,
    tracks: { inbound },
    pace: 'realtime',
    clock: systemClock,
  });
  await caller.run();
}

function report(
  name: string,
  { seconds, rounds }: LiveCallsOptions,
  [without = [], withRecords = []]: readonly (readonly Round[])[],
): Pick<Report, 'tables' | 'goals'> {
  const median = (of: readonly Round[], value: keyof Round): number =>
    quantile(
      of.map((round) => round[value]),
      0.5,
    );
  const more = median(withRecords, 'lagP99Ms') - median(without, 'lagP99Ms');
  const row = (what: string, of: readonly Round[]): string[] => [
    what,
    figure(median(of, 'lagP50Ms'), 2),
    figure(median(of, 'lagP99Ms'), 2),
    of.map(({ lagP99Ms }) => figure(lagP99Ms, 1)).join(', '),
    figure((median(of, 'cpuSeconds') * SECONDS_PER_HOUR) / (CALLS * seconds), 1),
    figure(median(of, 'written')),
  ];
  return {
    tables: [
      {
        title: `${name}: ${CALLS} live calls of ${seconds} s in the gateway, ${rounds} rounds of each kind in turns`,
        heads: [
          '',
          'event loop p50 ms',
          'p99 ms',
          'p99 of each round',
          'CPU s for an hour of one call',
          'events stored',
        ],
        rows: [row('without records', without), row('with records', withRecords)],
      },
    ],
    goals: [
      {
        goal: `event loop p99 at ${CALLS} calls the same with records: at most ${LAG_MORE_MAX_MS} ms more (${name})`,
        found: `${figure(more, 2)} ms`,
        met: more <= LAG_MORE_MAX_MS,
      },
    ],
  };
}
