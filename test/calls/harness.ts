/** A gateway's calls with everything around them in the hand of the test: clock, engine, carrier. */
import { encodeG711 } from '../../src/audio/g711.ts';
import { audioFetcher } from '../../src/calls/app/audio-fetch.ts';
import type { CallFlows, FlowContext } from '../../src/calls/app/call-flows.ts';
import { AppReachability } from '../../src/calls/app/reachability.ts';
import { TwimlClient } from '../../src/calls/app/twiml/client.ts';
import { Handovers } from '../../src/calls/app/twiml/handovers.ts';
import type { CallTracer } from '../../src/calls/call-tracer.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { Feed } from '../../src/calls/feed/feed.ts';
import { CallRegistry } from '../../src/calls/registry.ts';
import type { TransferCall } from '../../src/calls/socket-admission.ts';
import type { SoundTap } from '../../src/calls/sound/sound-tap.ts';
import { WebSocketTrunk } from '../../src/carriers/shared/websocket/trunk.ts';
import { TwilioDialect } from '../../src/carriers/shared/wire/twilio-media.ts';
import type { Detection, DetectRequest, TranscribeRequest, Transcript } from '../../src/engine-client/engine.ts';
import { createLog } from '../../src/foundation/log/log.ts';
import { Metrics } from '../../src/foundation/metrics.ts';
import type { Settings } from '../../src/foundation/settings/settings.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import type { Track } from '../../src/protocols/dialect.ts';
import { PromptCache } from '../../src/speech/prompt-cache.ts';
import { PromptMaker } from '../../src/speech/prompt-maker.ts';
import { RecordedPrompts } from '../../src/speech/recorded-prompts.ts';
import { SentenceSynthesizer } from '../../src/speech/sentence-synthesizer.ts';
import { readVoiceMap } from '../../src/speech/voice-map.ts';
import { VoiceResolver } from '../../src/speech/voice-resolver.ts';
import { CarrierSocket } from '../fakes/carrier-socket.ts';
import { FakeClock } from '../fakes/clock.ts';
import { FakeEngine } from '../fakes/engine.ts';
import { readSettings } from '../helpers/settings.ts';

const LOUD = 8000;

/** Hears the same words in all speech, and can be made to keep its answers back. */
class WordsEngine extends FakeEngine {
  /** While true, no request is answered. */
  held = false;
  readonly #waiting: (() => void)[] = [];
  override hear: FakeEngine['hear'] = () => ({ text: 'secret words' });

  override async detect(request: DetectRequest): Promise<Detection> {
    await this.#turn();
    return super.detect(request);
  }

  override async transcribe(request: TranscribeRequest): Promise<Transcript> {
    await this.#turn();
    return super.transcribe(request);
  }

  /** Answers what was held. */
  release(): void {
    this.held = false;
    for (const answer of this.#waiting.splice(0)) answer();
  }

  #turn(): Promise<void> {
    if (!this.held) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** One for all tests: each would start observers of its own in the process. */
const metrics = new Metrics();

export interface Gateway {
  readonly context: FlowContext & { readonly settings: Settings };
  readonly registry: CallRegistry;
  readonly webSockets: WebSocketTrunk;
  readonly clock: FakeClock;
  readonly engine: WordsEngine;
  /** Everything the feed said. */
  readonly events: FeedEvent[];
  readonly logLines: string[];
  /** A carrier connects. */
  dial(options?: { tokenRequired?: boolean; transfer?: TransferCall }): Caller;
}

/** A gateway with the default settings but for `environment`; the pauses of the tests end utterances in all calls. */
export function startCalls(
  environment: Record<string, string> = {},
  soundTap: SoundTap | null = null,
  openTracer: (clock: FakeClock) => CallTracer | null = () => null,
  flows: CallFlows | null = null,
): Gateway {
  const clock = new FakeClock();
  const engine = new WordsEngine(clock);
  const feed = new Feed({ history: 1000, epoch: 'test' });
  const events: FeedEvent[] = [];
  feed.subscribe({}, (entry) => events.push(entry.event));
  const logLines: string[] = [];
  const log = createLog('debug', { write: (line) => void logLines.push(line) });
  const settings = readSettings({ ENDPOINT_CAPTIONS_MS: '400', ...environment });
  const voices = new VoiceResolver({
    engine,
    defaultVoice: settings.DEFAULT_VOICE,
    voiceMap: readVoiceMap(settings.VOICE_MAP),
  });
  const prompts = new PromptMaker({
    engine,
    cache: memoryCache(),
    recorded: new RecordedPrompts({ directory: null, clock }),
  });
  const synthesizer = new SentenceSynthesizer({ voices, prompts });
  const apps = {
    fetchAudio: audioFetcher(settings, clock),
    twiml: new TwimlClient({ settings, clock, metrics, log }),
    handovers: new Handovers(clock),
    reachability: new AppReachability(clock),
  };
  const context: Gateway['context'] = {
    settings,
    engine,
    synthesizer,
    apps,
    clock,
    feed,
    log,
    metrics,
    soundTap,
    flows,
    tracer: openTracer(clock),
  };
  const registry = new CallRegistry(context);
  const webSockets = new WebSocketTrunk({ registry, feed, settings, clock });
  const dial: Gateway['dial'] = ({ tokenRequired = false, transfer } = {}) => {
    const socket = new CarrierSocket();
    webSockets.accept(socket.asWebSocket, new TwilioDialect(), {
      tokenRequired,
      ...(transfer !== undefined && { transfer }),
    });
    return new Caller(socket);
  };
  return { context, registry, webSockets, clock, engine, events, logLines, dial };
}

/** A prompt cache in memory that counts nowhere. */
export function memoryCache(maxBytes = 1_000_000): PromptCache {
  const ignore = (): void => undefined;
  return new PromptCache({
    maxBytes,
    directory: null,
    directoryMaxBytes: 0,
    metrics: { asked: ignore, trouble: ignore, held: ignore },
    clock: new FakeClock(),
  });
}

interface StartOptions {
  readonly callSid?: string;
  readonly streamSid?: string;
  readonly tracks?: readonly Track[];
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Twilio's side of one media stream. */
export class Caller {
  readonly socket: CarrierSocket;
  #streamSid = 'MZ1';
  readonly #chunks = { inbound: 0, outbound: 0 };
  /** Messages of ours that it has taken in, until when they play, and the marks among them. */
  #read = 0;
  #playedToMs = 0;
  #marks: { readonly name: string; atMs: number }[] = [];

  constructor(socket: CarrierSocket) {
    this.socket = socket;
  }

  start(options: StartOptions = {}): this {
    const { callSid = 'CA1', streamSid = 'MZ1', tracks = ['inbound'], parameters = {} } = options;
    this.#streamSid = streamSid;
    this.socket.receive({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    this.#send({
      event: 'start',
      start: {
        streamSid,
        accountSid: 'AC1',
        callSid,
        tracks,
        customParameters: parameters,
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      },
    });
    return this;
  }

  /** Loud for `durationMs`, in frames of 20 ms that come at once. */
  speak(durationMs: number, track: Track = 'inbound', level = LOUD): this {
    for (let ms = 0; ms < durationMs; ms += FRAME_MS) this.#frame(track, level);
    return this;
  }

  /** Silence for `durationMs`. */
  hush(durationMs: number, track: Track = 'inbound'): this {
    for (let ms = 0; ms < durationMs; ms += FRAME_MS) this.#frame(track, 0);
    return this;
  }

  /** `durationMs` of media get lost on the way. */
  lose(durationMs: number, track: Track = 'inbound'): this {
    this.#chunks[track] += durationMs / FRAME_MS;
    return this;
  }

  press(digit: string): this {
    this.#send({ event: 'dtmf', dtmf: { track: 'inbound_track', digit } });
    return this;
  }

  /** Tells every mark whose sound it has played by `nowMs`, as if all of it had come as early as it could. */
  returnMarks(nowMs: number): this {
    for (; this.#read < this.socket.sent.length; this.#read++)
      this.#take(JSON.parse(this.socket.sent[this.#read] ?? '{}'), nowMs);
    while ((this.#marks[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const mark = this.#marks.shift();
      this.#send({ event: 'mark', mark: { name: mark?.name } });
    }
    return this;
  }

  #take(message: { event?: string; mark?: { name: string } }, nowMs: number): void {
    if (message.event === 'media') this.#playedToMs = Math.max(this.#playedToMs, nowMs - FRAME_MS) + FRAME_MS;
    if (message.event === 'mark') this.#marks.push({ name: message.mark?.name ?? '', atMs: this.#playedToMs });
    if (message.event !== 'clear') return;
    this.#playedToMs = nowMs;
    for (const mark of this.#marks) mark.atMs = nowMs;
  }

  stop(): this {
    this.#send({ event: 'stop', stop: { accountSid: 'AC1', callSid: 'CA1' } });
    return this;
  }

  #frame(track: Track, level: number): void {
    const samples = Int16Array.from({ length: msToSamples(FRAME_MS, MULAW_8K.rateHz) }, (_, i) =>
      (i & 4) === 0 ? level : -level,
    );
    const timestamp = String(this.#chunks[track] * FRAME_MS);
    this.#chunks[track] += 1;
    const payload = Buffer.from(encodeG711(samples, MULAW_8K)).toString('base64');
    this.#send({ event: 'media', media: { track, chunk: String(this.#chunks[track]), timestamp, payload } });
  }

  #send(message: object): void {
    this.socket.receive({ ...message, streamSid: this.#streamSid });
  }
}

/** The value of a counter of all tests in this process. */
export async function metricValue(name: string, labels: Record<string, string>): Promise<number> {
  const metric = await metrics.registry.getSingleMetric(name)?.get();
  const sample = metric?.values.find((value) =>
    Object.entries(labels).every(([label, text]) => value.labels[label] === text),
  );
  return sample?.value ?? 0;
}
