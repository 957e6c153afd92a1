/**
 * What callers hear when the gateway is held up, as on a machine with more to do than it has cores for: AudioSocket
 * beside SIP, at the same gateway in the same seconds, everybody talked to. The gateway is stopped by a signal, so that
 * figures of different machines and days can be compared.
 */
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS } from '../../src/foundation/units.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import type { CallersReport } from './callers.ts';
import { BENCH_CARRIERS } from './carriers.ts';
import { modelTable } from './hold-ups-model.ts';
import { figure, quantile, type Report } from './report.ts';
import { runCallers } from './run-callers.ts';

const CARRIERS = ['audiosocket', 'sip'] as const;
type Compared = (typeof CARRIERS)[number];
const HOLD_UPS_MS = [0, 40, 70, 150];
/** From one hold-up to the next; no multiple of a frame. */
const EVERY_MS = 453;
/**
 * From here on a phone plays a gap: Asterisk's timestamps jump (res/res_rtp_asterisk.c), and our RTP leaves slots out.
 */
const AUDIBLE_MS = 100;
/** The hold-ups whose goal it is that nobody hears them. */
const SHORT_MS = 70;

interface HoldUpsOptions {
  /** How long each step lasts. */
  readonly seconds: number;
  /** Calls of each carrier. */
  readonly calls: number;
}

interface Step {
  readonly holdUpMs: number;
  readonly held: readonly number[];
  readonly carrier: Compared;
  readonly gapsMs: readonly number[];
}

/** Runs the benchmark. */
export async function benchHoldUps(options: HoldUpsOptions): Promise<Report> {
  const steps: Step[] = [];
  for (const holdUpMs of HOLD_UPS_MS) {
    steps.push(...(await runStep(holdUpMs, options)));
    process.stderr.write(`hold-ups of ${holdUpMs} ms: done\n`);
  }
  return report(steps, options);
}

async function runStep(holdUpMs: number, { seconds, calls }: HoldUpsOptions): Promise<Step[]> {
  const environment = { ...(await BENCH_CARRIERS.audiosocket.settings()), ...(await BENCH_CARRIERS.sip.settings()) };
  const gateway = await startGateway({ LOG_LEVEL: 'info', MAX_CALLS: '1000', ...environment });
  let over = false;
  const holding = holdUp(gateway, holdUpMs, () => over);
  const order = { url: gateway.url, environment, calls: 0, seconds, spokenTo: calls };
  const reports: CallersReport[] = await Promise.all(CARRIERS.map((carrier) => runCallers({ ...order, carrier })));
  over = true;
  const held = await holding;
  await gateway.stop();
  return CARRIERS.map((carrier, i) => ({ holdUpMs, held, carrier, gapsMs: reports[i]?.allGapsMs ?? [] }));
}

/** Stops the gateway again and again. Resolves with how long it was stopped each time. */
async function holdUp({ pid }: GatewayProcess, ms: number, isOver: () => boolean): Promise<number[]> {
  const held: number[] = [];
  while (ms > 0 && !isOver()) {
    await sleep(systemClock, EVERY_MS - ms);
    const startedMs = systemClock.nowMs();
    process.kill(pid, 'SIGSTOP');
    await sleep(systemClock, ms);
    process.kill(pid, 'SIGCONT');
    held.push(systemClock.nowMs() - startedMs);
  }
  return held;
}

/** Of 1000 frames. */
function audibleShare({ gapsMs }: Step): number {
  return (1000 * gapsMs.filter((gapMs) => gapMs >= AUDIBLE_MS).length) / Math.max(gapsMs.length, 1);
}

function report(steps: readonly Step[], { seconds, calls }: HoldUpsOptions): Report {
  const [audioSocket, sip] = CARRIERS.map((name) =>
    steps.find(({ carrier, holdUpMs }) => carrier === name && holdUpMs === SHORT_MS),
  );
  const shares = [audioSocket, sip].map((step) => (step === undefined ? Number.NaN : audibleShare(step))) as [
    number,
    number,
  ];
  const longestMs = [audioSocket, sip].map((step) => quantile(step?.gapsMs ?? [], 1)) as [number, number];
  return {
    name: 'hold-ups',
    about:
      `${calls} calls over AudioSocket and ${calls} over SIP at one gateway at the same time, ${seconds} s each ` +
      'step, everybody talked to. The gateway is stopped ' +
      `(SIGSTOP) for so long every ${EVERY_MS} ms, as it is where other programs have the cores. A gap between two ` +
      `frames of ${FRAME_MS} ms of ${AUDIBLE_MS} ms or ` +
      "more is heard: Asterisk gives AudioSocket's frames timestamps that jump over it, and RTP's slots are left out.",
    plots: [],
    tables: [
      modelTable(),
      {
        title: 'Gaps between frames at the caller',
        heads: [
          'hold-ups, ms',
          'really, p50',
          'p95',
          'carrier',
          'frames',
          'gap p50, ms',
          'p99',
          'p99.9',
          'most',
          `≥ ${AUDIBLE_MS} ms, of 1000`,
        ],
        rows: steps.map((step) => [
          step.holdUpMs,
          ...[0.5, 0.95].map((part) => figure(quantile(step.held, part))),
          BENCH_CARRIERS[step.carrier].label,
          step.gapsMs.length,
          ...[0.5, 0.99, 0.999, 1].map((part) => figure(quantile(step.gapsMs, part), 1)),
          figure(audibleShare(step), 2),
        ]),
      },
    ],
    goals: [
      {
        goal:
          `with hold-ups of ${SHORT_MS} ms AudioSocket has no more gaps of ${AUDIBLE_MS} ms than SIP, within 1 ` +
          'of 1000 frames',
        found: shares.map((share) => figure(share, 2)).join(' and '),
        met: shares[0] <= shares[1] + 1,
      },
      {
        goal: `with hold-ups of ${SHORT_MS} ms AudioSocket's longest gap is at most 1.5 times SIP's`,
        found: `${longestMs.map((ms) => figure(ms)).join(' and ')} ms`,
        met: longestMs[0] <= 1.5 * longestMs[1],
      },
    ],
  };
}
