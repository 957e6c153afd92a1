/** `trunkline demo`: a whole call with no phone and no account. A gateway, a simulated carrier and a reader of the captions, all in this process. */
import { randomUUID } from 'node:crypto';
import type { CaptionEvent, GapEvent } from '../calls/events.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { type Gateway, runGateway } from '../main.ts';
import { packagePath } from '../paths.ts';
import type { Settings } from '../settings.ts';
import { type CallReport, placeCall } from '../simulator/twilio-caller.ts';
import { MULAW_8K, samplesToMs } from '../units.ts';
import { loadAudio } from './audio-file.ts';
import { CaptionDisplay, missingWords, speechHead } from './caption-display.ts';
import { startExample } from './example.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './exit-codes.ts';
import { openFeed } from './feed-client.ts';
import { Interruption } from './interruption.ts';
import { LatencyMeter, quantile, sumOfMetric } from './latencies.ts';
import { ownGateway } from './own-gateway.ts';
import { untilReady } from './readiness.ts';
import { giveTalk } from './talk.ts';
import type { Output, Terminal } from './terminal.ts';

/** How the demo is to be given. */
export interface DemoOptions {
  /** Faster than real time: for machines, not for people. */
  readonly fast: boolean;
  /** A caller who talks with an app, in place of two people. */
  readonly talk: boolean;
  /** Serve on after the call, until Ctrl-C. */
  readonly keep: boolean;
}

/** Answers that a talk has at least. */
const TURNS = 3;

/** Gives the demo; returns the exit code. */
export async function demo(options: DemoOptions, environment: Settings, terminal: Terminal): Promise<number> {
  if (!options.talk) return demonstrate(options, ownGateway(environment), terminal);
  const app = await startExample('echo');
  try {
    return await demonstrate(options, { ...ownGateway(environment), APP_URL: app.url, APP_GREETING: '', BARGE_IN: 'any' }, terminal);
  } finally {
    await app.stop();
  }
}

async function demonstrate(options: DemoOptions, settings: Settings, terminal: Terminal): Promise<number> {
  const { out } = terminal;
  let refusal: string | null = null;
  const onRefused = (message: string) => {
    refusal = message;
  };
  const gateway = await runGateway(settings, { log: createLog('fatal'), onRefused });
  const interrupted = new Interruption(() => void gateway.close());
  try {
    out.line(`${out.bold('Trunkline')} is running at ${out.bold(`${gateway.url}/`)}`);
    terminal.err.live([{ text: 'Loading the speech models…' }]);
    await untilReady(gateway.url, systemClock, () => refusal);
    terminal.err.live([]);
    const isGood = options.talk ? await showTalk(gateway, out) : (await giveCall(gateway, options, terminal)) > 0;
    sayNext(gateway, options, out);
    if (options.keep) await interrupted.promise;
    return isGood ? EXIT_OK : EXIT_FAILED;
  } catch (error) {
    if (interrupted.came) return EXIT_INTERRUPTED;
    throw error;
  } finally {
    terminal.err.live([]);
    interrupted.ignore();
    await gateway.close();
  }
}

/** Places the call and shows it; returns how many final captions came. */
async function giveCall(gateway: Gateway, { fast }: DemoOptions, { out }: Terminal): Promise<number> {
  const callSid = `CA${randomUUID().replaceAll('-', '')}`;
  const inbound = await demoTrack('demo-caller.wav');
  const outbound = await demoTrack('demo-agent.wav');
  const seconds = Math.round(samplesToMs(inbound.length, MULAW_8K.rateHz) / 1000);
  out.line(`A simulated call of ${seconds} s over Twilio's media stream, both sides captioned${fast ? '' : ' while they speak'}:`);
  out.line();

  const display = new CaptionDisplay(out);
  const meter = new LatencyMeter();
  const finals: (CaptionEvent | GapEvent)[] = [];
  const feed = await openFeed(gateway.url, callSid, (event) => {
    meter.note(event, systemClock.nowMs());
    if (event.type === 'gap') display.showGap(event);
    if (event.type === 'caption') display.show(event);
    if (event.type === 'gap' || (event.type === 'caption' && event.final)) finals.push(event);
  });
  try {
    const report = await placeCall({
      url: `${gateway.url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound, outbound },
      pace: fast ? 'fast' : 'realtime',
      clock: systemClock,
      callSid,
      from: '+15550100',
      to: '+15550199',
    });
    checkCall(report);
    await feed.callEnded;
  } finally {
    display.end();
    feed.close();
  }
  printTranscript(finals, out);
  printLatencies(meter, { fast, audioMs: seconds * 1000, runSeconds: await modelRunSeconds(gateway) }, out);
  return finals.filter(({ type }) => type === 'caption').length;
}

/** Whether the talk went as it was meant to: three answers, one of them cut short. */
async function showTalk(gateway: Gateway, out: Output): Promise<boolean> {
  out.line('A simulated caller talks with examples/echo.mjs. What the caller cut off, and so did not hear, is in brackets:');
  out.line();
  const { call, spoken } = await giveTalk(gateway, out);
  checkCall(call);
  return spoken.length > TURNS && spoken.some(({ interrupted }) => interrupted);
}

async function demoTrack(name: string): Promise<Int16Array> {
  const [samples = new Int16Array(0)] = await loadAudio(packagePath('fixtures', 'audio', name), MULAW_8K.rateHz, 'mix');
  return samples;
}

function checkCall({ closeCode, closeReason }: CallReport): void {
  if (closeCode !== 1000) throw new Error(`the gateway ended the call with ${closeCode} ${closeReason}`);
}

function printTranscript(finals: readonly (CaptionEvent | GapEvent)[], out: Output): void {
  out.line();
  out.line(out.bold('Transcript'));
  for (const item of finals.toSorted((a, b) => a.startMs - b.startMs)) {
    out.line(speechHead(item) + (item.type === 'gap' ? missingWords(item) : item.text));
  }
}

/** All model runs of the gateway so far, in seconds of one core. */
async function modelRunSeconds(gateway: Gateway): Promise<number> {
  const page = await (await fetch(`${gateway.url}/metrics`)).text();
  return sumOfMetric(page, 'trunkline_engine_run_seconds_sum');
}

interface CallCost {
  readonly fast: boolean;
  readonly audioMs: number;
  readonly runSeconds: number;
}

function printLatencies(meter: LatencyMeter, { fast, audioMs, runSeconds }: CallCost, out: Output): void {
  const { firstPartial, partialLag, endpointToFinal } = meter.latencies;
  const rows: [string, readonly number[]][] = [
    ['Start of speech to first caption', fast ? [] : firstPartial],
    ['Last audio used to partial caption', partialLag],
    ['Endpoint to final caption', endpointToFinal],
  ];
  out.line();
  out.line(out.bold('Latency') + (fast ? out.dim('  (of a call faster than real time: the engines never rest)') : ''));
  for (const [stage, values] of rows) {
    if (values.length > 0) out.line(`  ${stage.padEnd(36)}${figure(values, 0.5)} p50  ${figure(values, 0.95)} p95`);
  }
  const share = (100_000 * runSeconds) / audioMs;
  out.line(
    `  ${'Inside model runs'.padEnd(36)}${runSeconds.toFixed(1)} s for ${audioMs / 1000} s of call (${share.toFixed(0)} % of a core)`,
  );
}

function figure(values: readonly number[], share: number): string {
  return `${String(Math.round(quantile(values, share) ?? 0)).padStart(5)} ms`;
}

function sayNext(gateway: Gateway, { keep, talk }: DemoOptions, out: Output): void {
  out.line();
  out.line(out.bold('Next'));
  if (keep) out.line(`  The call is still to be seen at ${gateway.url}/ until you press Ctrl-C.`);
  else out.line('  npm run demo -- --keep           the same, and look at the page meanwhile and afterwards');
  if (!talk) out.line('  npm run demo -- --talk           a caller who talks with an app, and cuts in');
  out.line('  npm start                        serve, then point Twilio at it: see README');
  out.line('  npm run trunkline -- call x.wav  a call with your own recording');
}
