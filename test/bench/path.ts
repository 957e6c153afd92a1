/**
 * What the gateway itself costs: µs for each 20 ms frame by stage and in all, and how much of the way from endpoint to
 * final is not the model.
 */
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { Resampler } from '../../src/audio/resample.ts';
import { Timeline } from '../../src/audio/timeline.ts';
import { TwilioDialect } from '../../src/carriers/shared/wire/twilio-media.ts';
import type { Engine, Transcript } from '../../src/engine-client/engine.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { LiveTranscriber } from '../../src/transcription/live-transcriber.ts';
import { startGateway, usageOf } from '../helpers/gateway.ts';
import { readSettings } from '../helpers/settings.ts';
import { startBareServer } from './bare-server.ts';
import { perFrameUs, rtpTable } from './path-rtp.ts';
import { loadPrompts, promptConversation } from './prompts.ts';
import { figure, type Report, type Table } from './report.ts';
import { runCallers } from './run-callers.ts';
import { startEngineClient } from './start-engine-client.ts';

const FRAMES = 20_000;
const FRAME_SAMPLES = msToSamples(FRAME_MS, MULAW_8K.rateHz);
const WIDE_FRAME_SAMPLES = msToSamples(FRAME_MS, 16_000);
const LOAD_CALLS = 20;
/** Calls before those that are measured: code that is still being compiled would count as work. */
const WARM_UP_SECONDS = 8;
const GOAL_FRAME_US = 50;
const GOAL_OVERHEAD_MS = 10;

/** Runs the benchmark; `seconds` is the length of the calls it places. */
export async function benchPath(options: { readonly seconds: number }): Promise<Report> {
  const { stages, rtp } = await measureStages();
  const floorUs = await measureBareServer(options.seconds);
  const wholeUs = await measureGateway(options.seconds);
  const finals = await measureFinals(options.seconds);
  const lagMs = mean(finals.map((final) => final.lagMs));
  const outsideMs = mean(finals.map((final) => final.lagMs - final.runMs));
  return {
    name: 'path',
    about:
      `Cost of one ${FRAME_MS} ms frame of a Twilio call in the gateway, and the way from endpoint to final ` +
      'caption without a speculative decode. The stages are measured in loops, where everything is in the ' +
      `processor's caches; the whole gateway, and beside it a WebSocket server on the same library that throws ` +
      'away the same messages, by the CPU time of their processes while the calls run in real time. That server is ' +
      'the floor: a thousand times a second the process is woken, reads a socket and sleeps again.',
    tables: [
      {
        title: 'One frame',
        heads: ['stage', 'µs'],
        rows: [
          ...stages,
          [`whole gateway process, ${LOAD_CALLS} calls, sockets included`, figure(wholeUs, 1)],
          ['bare `ws` server receiving the same messages', figure(floorUs, 1)],
          ['what the gateway adds to that', figure(wholeUs - floorUs, 1)],
        ],
      },
      rtp,
      {
        title: 'Endpoint to final',
        heads: ['finals', 'mean, ms', 'inside model runs, ms', 'outside, ms', 'share outside'],
        rows: [
          [
            finals.length,
            figure(lagMs, 1),
            figure(lagMs - outsideMs, 1),
            figure(outsideMs, 1),
            `${figure((100 * outsideMs) / lagMs, 1)} %`,
          ],
        ],
      },
    ],
    goals: [
      {
        goal: `gateway work per frame ≤ ${GOAL_FRAME_US} µs`,
        found: `${figure(wholeUs, 1)} µs, ${figure(floorUs, 1)} of them the floor`,
        met: wholeUs <= GOAL_FRAME_US,
      },
      {
        goal: `outside model runs ≤ ${GOAL_OVERHEAD_MS} ms`,
        found: `${figure(outsideMs, 1)} ms`,
        met: outsideMs <= GOAL_OVERHEAD_MS,
      },
    ],
  };
}

type Row = [stage: string, microseconds: string];

/** Each stage alone, on human speech, in a loop. */
async function measureStages(): Promise<{ readonly stages: readonly Row[]; readonly rtp: Table }> {
  const speech = promptConversation(loadPrompts(), (FRAMES * FRAME_MS) / 1000, 0.45, 1);
  const frames = Array.from({ length: FRAMES }, (_, i) => speech.subarray(i * FRAME_SAMPLES, (i + 1) * FRAME_SAMPLES));
  const bytes = frames.map((frame) => encodeG711(frame, MULAW_8K));
  const messages = bytes.map(mediaMessage);
  const dialect = new TwilioDialect();
  dialect.receive(START_MESSAGE);
  const timeline = new Timeline({ rateHz: MULAW_8K.rateHz, reorderMs: 60, gapMaxMs: 10_000 });
  const resampler = new Resampler(MULAW_8K.rateHz, 16_000);
  const wide = frames.map((frame) => resampler.push(frame));
  const row = <T>(stage: string, inputs: readonly T[], work: (input: T, index: number) => void): Row => [
    stage,
    figure(perFrameUs(inputs, work), 2),
  ];
  const stages: Row[] = [
    row('message → event (JSON, base64)', messages, (message) => dialect.receive(message)),
    row('µ-law → PCM', bytes, (chunk) => decodeG711(chunk, MULAW_8K)),
    row('timeline', frames, (samples, i) => timeline.push({ samples, atMs: i * FRAME_MS, sequence: i + 1 })),
    row('8 → 16 kHz', frames, (samples) => resampler.push(samples)),
    ['live transcriber (engine answering at once)', await transcriberFrameUs(wide)],
  ];
  return { stages, rtp: rtpTable({ narrow: bytes, wide: wide.filter(({ length }) => length === WIDE_FRAME_SAMPLES) }) };
}

/** The live transcriber works in promises, which run after every second of audio. */
async function transcriberFrameUs(frames: readonly Int16Array[]): Promise<string> {
  const transcriber = silentTranscriber();
  const startedMs = performance.now();
  for (const [index, samples] of frames.entries()) {
    transcriber.push(samples);
    if (index % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await transcriber.end();
  return figure(((performance.now() - startedMs) * 1000) / frames.length, 2);
}

const START_MESSAGE = JSON.stringify({
  event: 'start',
  sequenceNumber: '1',
  streamSid: 'MZbench',
  start: {
    streamSid: 'MZbench',
    accountSid: 'AC1',
    callSid: 'CAbench',
    tracks: ['inbound'],
    customParameters: {},
    mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
  },
});

function mediaMessage(bytes: Uint8Array, index: number): string {
  const media = {
    track: 'inbound',
    chunk: String(index + 1),
    timestamp: String(index * FRAME_MS),
    payload: Buffer.from(bytes).toString('base64'),
  };
  return JSON.stringify({ event: 'media', sequenceNumber: String(index + 2), media, streamSid: 'MZbench' });
}

function silentTranscriber(): LiveTranscriber {
  const silent: Engine = {
    load: 0,
    finalLoad: 0,
    firmLoad: 0,
    ...SPEECHLESS,
    wake: () => undefined,
    detect: async ({ samples }) => ({
      probabilities: new Float32Array(samples.length / 512),
      state: new Float32Array(320),
    }),
    transcribe: () => Promise.reject(new Error('nothing is said')),
  };
  return new LiveTranscriber({
    settings: readSettings({}),
    engine: silent,
    clock: systemClock,
    originMs: 0,
    emit: () => undefined,
    metrics: NO_METRICS,
  });
}

/** Nothing is spoken here. */
const SPEECHLESS = {
  speak: () => Promise.reject(new Error('nothing is spoken')),
  turn: () => Promise.reject(new Error('no turn is decided')),
  start: () => Promise.resolve(),
  voices: [],
  languages: [],
  abilities: null,
  ttsModel: null,
  turnModel: null,
};

const NO_METRICS = {
  partial: () => undefined,
  final: () => undefined,
  partialDropped: () => undefined,
  finalLost: () => undefined,
  joint: () => undefined,
};

/** Calls that say nothing to the gateway: sockets, parsing, audio, voice detection's messages. */
async function measureGateway(seconds: number): Promise<number> {
  const gateway = await startGateway();
  const frameUs = await measureFrame(gateway, seconds);
  await gateway.stop();
  return frameUs;
}

/** The same calls to a server that does nothing with them. */
async function measureBareServer(seconds: number): Promise<number> {
  const server = await startBareServer();
  const frameUs = await measureFrame(server, seconds);
  await server.stop();
  return frameUs;
}

/** CPU time of a warm process per frame while calls in real time come in. */
async function measureFrame(
  { url, pid }: { readonly url: string; readonly pid: number },
  seconds: number,
): Promise<number> {
  await runCallers({ url, calls: LOAD_CALLS, seconds: WARM_UP_SECONDS, silent: true });
  const before = usageOf(pid).cpuSeconds;
  await runCallers({ url, calls: LOAD_CALLS, seconds, silent: true });
  const usedSeconds = usageOf(pid).cpuSeconds - before;
  return (usedSeconds * 1e6) / ((LOAD_CALLS * seconds * 1000) / FRAME_MS);
}

interface FinalCost {
  readonly lagMs: number;
  readonly runMs: number;
}

/** Endpoint → final of one call in real time on idle engines, each final decoded at the endpoint and not before. */
async function measureFinals(seconds: number): Promise<FinalCost[]> {
  const engineClient = await startEngineClient(1);
  const settings = { ...readSettings({}), EAGER_MS: Number.MAX_SAFE_INTEGER };
  const finals: FinalCost[] = [];
  let lastFinal: Transcript | null = null;
  const watched: Engine = {
    load: 0,
    finalLoad: 0,
    firmLoad: 0,
    ...SPEECHLESS,
    wake: () => engineClient.wake(),
    detect: (request) => engineClient.detect(request),
    async transcribe(request) {
      const transcript = await engineClient.transcribe(request);
      if (request.urgency === 'final') lastFinal = transcript;
      return transcript;
    },
  };
  const metrics = {
    ...NO_METRICS,
    final: (_: string, lagMs: number) => finals.push({ lagMs, runMs: lastFinal?.cost.runMs ?? 0 }),
  };
  const transcriber = new LiveTranscriber({
    settings,
    engine: watched,
    clock: systemClock,
    originMs: 0,
    emit: () => undefined,
    metrics,
  });
  await speakInRealTime(transcriber, promptConversation(loadPrompts(), seconds, 0.6, 5));
  await transcriber.end();
  await engineClient.close();
  return finals;
}

function speakInRealTime(transcriber: LiveTranscriber, samples: Int16Array): Promise<void> {
  const resampler = new Resampler(MULAW_8K.rateHz, 16_000);
  let at = 0;
  return new Promise((resolve) => {
    const timer = systemClock.every(FRAME_MS, () => {
      transcriber.push(resampler.push(samples.subarray(at, at + FRAME_SAMPLES)));
      at += FRAME_SAMPLES;
      if (at < samples.length) return;
      timer.cancel();
      resolve();
    });
  });
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
