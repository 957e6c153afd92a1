/** `trunkline demo`: a gateway, a simulated carrier and a reader of the captions in one process. */
import { randomUUID } from 'node:crypto';
import type { CaptionEvent, FeedEvent, GapEvent, RevisionEvent } from '../calls/feed/events.ts';
import { systemClock } from '../foundation/clock.ts';
import { COMMAND, packagePath } from '../foundation/folders/paths.ts';
import { createLog } from '../foundation/log/log.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { MULAW_8K, samplesToMs } from '../foundation/units.ts';
import { type Gateway, runGateway } from '../gateway/main.ts';
import { type CallReport, placeCall } from '../simulator/twilio-caller.ts';
import { loadAudio } from './audio-file.ts';
import { CaptionDisplay, missingWords, speechHead } from './caption-display.ts';
import { printLatencies, printSpeed } from './demo-figures.ts';
import { startExample } from './example.ts';
import { EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK } from './exit-codes.ts';
import { openFeed } from './feed-client.ts';
import { Interruption } from './interruption.ts';
import { LatencyMeter, sumOfMetric } from './latencies.ts';
import { LoadingDisplay } from './loading-display.ts';
import { ownGateway } from './own-gateway.ts';
import { untilReady } from './readiness.ts';
import { runTalk, type TalkOptions } from './talk.ts';
import type { Output, Terminal } from './terminal.ts';

/** The options of the command. */
export interface DemoOptions {
  /** Faster than real time, e.g. for tests. */
  readonly fast: boolean;
  /** A caller talks with an app, instead of with a person. */
  readonly talk: boolean;
  /** Keep serving after the call, until Ctrl-C. */
  readonly keep: boolean;
}

/** Answers that a talk has at least. */
const TURNS = 3;

/** Runs the demo; returns the exit code. */
export async function demo(options: DemoOptions, environment: Settings, terminal: Terminal): Promise<number> {
  if (!options.talk) return demonstrate(options, ownGateway(environment), terminal);
  const app = await startExample('echo');
  try {
    return await demonstrate(
      options,
      { ...ownGateway(environment), APP_URL: app.url, APP_GREETING: '', BARGE_IN: 'any' },
      terminal,
    );
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
  const loading = new LoadingDisplay(terminal.err);
  const gateway = await runGateway(settings, { log: createLog('fatal'), onRefused, engineWatcher: loading });
  const interrupted = new Interruption(() => void gateway.close());
  try {
    out.line(`${out.bold('Trunkline')} is running at ${out.bold(`${gateway.url}/`)}`);
    loading.show();
    await untilReady(gateway.url, systemClock, () => refusal).finally(() => loading.end());
    const isGood = options.talk
      ? await showTalk(gateway, { settings, out })
      : (await showCall(gateway, options, settings, terminal)) > 0;
    printNextSteps(gateway, options, out);
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

/** Places the call and shows it. Returns the number of final captions. */
async function showCall(
  gateway: Gateway,
  { fast }: DemoOptions,
  settings: Settings,
  { out }: Terminal,
): Promise<number> {
  const callSid = `CA${randomUUID().replaceAll('-', '')}`;
  const inbound = await demoTrack('demo-caller.wav');
  const outbound = await demoTrack('demo-agent.wav');
  const audioMs = samplesToMs(inbound.length, MULAW_8K.rateHz);
  out.line(
    `A simulated call of ${Math.round(audioMs / 1000)} s over Twilio's media stream, both sides ` +
      `captioned${fast ? '' : ' while they speak'}:`,
  );
  out.line();

  const display = new CaptionDisplay(out);
  const meter = new LatencyMeter(settings);
  const transcript = new Map<string, CaptionEvent | RevisionEvent | GapEvent>();
  const feed = await openFeed(gateway.url, callSid, (event) => {
    meter.note(event, systemClock.nowMs());
    if (isLasting(event))
      transcript.set(`${event.track} ${event.type === 'gap' ? `gap ${event.startMs}` : event.utterance}`, event);
    // Faster than real time, captions of the two sides come out of order. They are sorted and printed after the call.
    if (fast) return;
    if (event.type === 'gap') display.showGap(event);
    if (event.type === 'caption') display.show(event);
    if (event.type === 'revision') display.showRevision(event);
  });
  const startMs = systemClock.nowMs();
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
  const cost = { audioMs, elapsedMs: systemClock.nowMs() - startMs, runSeconds: await modelRunSeconds(gateway) };
  if (fast) {
    printTranscript([...transcript.values()], out);
    printSpeed(cost, out);
  } else printLatencies(meter.latencies, cost, settings, out);
  return [...transcript.values()].filter(({ type }) => type !== 'gap').length;
}

/** Returns whether the talk went as planned: three answers, one of them interrupted. */
async function showTalk(gateway: Gateway, { settings, out }: TalkOptions): Promise<boolean> {
  out.line(
    'A simulated caller talks with examples/echo.mjs. Text that the caller cut off and did not hear is in brackets:',
  );
  out.line();
  const { call, spoken } = await runTalk(gateway, { settings, out });
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

/** What stays in a transcript; a revision takes the place of its final. */
function isLasting(event: FeedEvent): event is CaptionEvent | RevisionEvent | GapEvent {
  return event.type === 'gap' || event.type === 'revision' || (event.type === 'caption' && event.final);
}

function printTranscript(items: readonly (CaptionEvent | RevisionEvent | GapEvent)[], out: Output): void {
  const worded = items.filter((item) => item.type === 'gap' || item.text !== '');
  for (const item of worded.toSorted((a, b) => a.startMs - b.startMs)) {
    out.line(speechHead(item) + (item.type === 'gap' ? missingWords(item) : item.text));
  }
}

/** The time of all model runs of the gateway so far, in seconds of one core. */
async function modelRunSeconds(gateway: Gateway): Promise<number> {
  const page = await (await fetch(`${gateway.url}/metrics`)).text();
  return sumOfMetric(page, 'trunkline_engine_run_seconds_sum');
}

function printNextSteps(gateway: Gateway, { keep, talk }: DemoOptions, out: Output): void {
  out.line();
  out.line(out.bold('Next'));
  if (keep) out.line(`  The call stays at ${gateway.url}/ until you press Ctrl-C.`);
  else printStep('demo --keep', 'the same, and keep the web page after the call', out);
  if (!talk) printStep('demo --talk', 'a caller who talks with an app and interrupts it', out);
  printStep('serve', 'start the server, then connect Twilio (see README)', out);
  printStep('call x.wav', 'a call with your own recording', out);
}

function printStep(words: string, meaning: string, out: Output): void {
  out.line(`  ${`${COMMAND} ${words}`.padEnd(33)} ${meaning}`);
}
