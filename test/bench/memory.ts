/**
 * Whether memory stays what it is: calls played as fast as they are understood, one after the other, and what the
 * processes weigh after each.
 */
import { systemClock } from '../../src/foundation/clock.ts';
import { placeCall } from '../../src/simulator/twilio-caller.ts';
import { type GatewayProcess, startGateway } from '../helpers/gateway.ts';
import { memoryOf } from './peers/peer.ts';
import { promptConversation } from './prompts.ts';
import { figure, type Report } from './report.ts';
import { loadSpeech } from './speech-set.ts';
import { linePlot } from './svg.ts';

const SPEECH_SHARE = 0.45;
const CALLS_AT_ONCE = 2;
const RETRY_MS = 500;
const ENGINE_MAX_MB = 250;
/**
 * By how much the gateway may differ from what it was after a quarter of the calls, in MB: its collector comes and
 * goes.
 */
const GATEWAY_DRIFT_MAX_MB = 15;

/** Resident memory after so much audio of calls. */
interface Sample {
  readonly minutes: number;
  readonly gatewayMb: number;
  readonly engineMb: number;
}

/** Runs the benchmark: `minutes` of calls in all, each of `callMinutes`. */
export async function benchMemory(options: {
  readonly minutes: number;
  readonly callMinutes: number;
}): Promise<Report> {
  const { about, prompts } = await loadSpeech();
  const gateway = await startGateway({ ENGINE_WORKERS: '1' });
  const samples: Sample[] = [];
  try {
    for (let minutes = 0; minutes < options.minutes; ) {
      const calls = Array.from({ length: CALLS_AT_ONCE }, (_, index) =>
        promptConversation(prompts, options.callMinutes * 60, SPEECH_SHARE, minutes + index),
      );
      await Promise.all(calls.map((inbound) => play(gateway.url, inbound)));
      minutes += CALLS_AT_ONCE * options.callMinutes;
      samples.push(weigh(gateway, minutes));
      process.stderr.write(
        `${minutes} min: gateway ${figure(samples.at(-1)?.gatewayMb ?? 0)} MB, engine ` +
          `${figure(samples.at(-1)?.engineMb ?? 0)} MB\n`,
      );
    }
    return report(samples, gateway, { ...options, about });
  } finally {
    await gateway.stop();
  }
}

/** Engines that work at full speed take no second call at times: it comes again. */
async function play(url: string, inbound: Int16Array): Promise<void> {
  for (;;) {
    try {
      await placeCall({
        url: `${url.replace(/^http/, 'ws')}/twilio/media`,
        tracks: { inbound },
        pace: 'fast',
        clock: systemClock,
      });
      return;
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('503'))) throw error;
      await new Promise<void>((resolve) => systemClock.after(RETRY_MS, resolve));
    }
  }
}

function weigh(gateway: GatewayProcess, minutes: number): Sample {
  const [enginePid = 0] = gateway.enginePids();
  return { minutes, gatewayMb: memoryOf(gateway.pid).nowMb, engineMb: memoryOf(enginePid).nowMb };
}

function report(
  samples: readonly Sample[],
  gateway: GatewayProcess,
  { callMinutes, about }: { callMinutes: number; about: string },
): Report {
  const last = samples.at(-1);
  const quarter = samples[Math.floor(samples.length / 4)];
  const driftMb = (last?.gatewayMb ?? Number.NaN) - (quarter?.gatewayMb ?? Number.NaN);
  const engineMb = last?.engineMb ?? Number.NaN;
  const peaks = [gateway.pid, ...gateway.enginePids()].map((pid) => figure(memoryOf(pid).peakMb));
  return {
    name: 'memory',
    about:
      `Simulated Twilio calls of ${callMinutes} minutes, ${CALLS_AT_ONCE} at once and played as fast as they are ` +
      `understood, 45 % speech (${about}); what gateway and ` +
      `engine have resident after each. Most that they ever had: ${peaks.join(' and ')} MB.`,
    plots: [{ name: 'resident', title: 'Resident memory against audio of calls', svg: residentPlot(samples) }],
    tables: [
      {
        title: 'Resident memory',
        heads: ['calls so far, min', 'gateway, MB', 'engine, MB'],
        rows: samples.map(({ minutes, gatewayMb, engineMb: mb }) => [minutes, figure(gatewayMb), figure(mb)]),
      },
    ],
    goals: [
      {
        goal: `engine ≤ ${ENGINE_MAX_MB} MB after all calls`,
        found: `${figure(engineMb)} MB`,
        met: engineMb <= ENGINE_MAX_MB,
      },
      {
        goal: `gateway at most ${GATEWAY_DRIFT_MAX_MB} MB more than after a quarter of them`,
        found: `${figure(driftMb)} MB`,
        met: driftMb <= GATEWAY_DRIFT_MAX_MB,
      },
    ],
  };
}

function residentPlot(samples: readonly Sample[]): string {
  return linePlot({
    title: 'Resident memory against audio of calls',
    x: { label: 'audio of calls, min' },
    y: { label: 'MB' },
    series: [
      { name: 'engine', points: samples.map(({ minutes, engineMb }) => [minutes, engineMb]) },
      { name: 'gateway', points: samples.map(({ minutes, gatewayMb }) => [minutes, gatewayMb]) },
    ],
  });
}
