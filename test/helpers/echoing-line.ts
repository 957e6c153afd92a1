/**
 * A caller whose telephone sends back what it plays: a call over Twilio's protocol in which the caller's track has,
 * besides what the caller says and the line's noise, the echo of the server's voice.
 */
import { decodeG711 } from '../../src/audio/g711.ts';
import { toSample } from '../../src/audio/pcm.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { addEcho, type EchoPathKind, echoPath } from './echo-paths.ts';
import { gaussian, LINE_RATE_HZ } from './signals.ts';

/** How the line echoes. */
export interface EchoingLine {
  readonly path: EchoPathKind;
  /** Of the echo beside what was played, in dB; null = no echo. */
  readonly levelDb: number | null;
  readonly delayMs: number;
  /** The telephone's buffer slips by so much so often; 0 = never. */
  readonly slipMs: number;
  /** The telephone's loudspeaker cannot play louder than this share of full scale. */
  readonly clipAt: number;
  /** Of the line, as root mean square of a sample. */
  readonly noise: number;
  readonly seed: number;
}

interface EchoingCallOptions {
  readonly url: string;
  readonly line: EchoingLine;
  readonly seconds: number;
  readonly parameters?: Readonly<Record<string, string>>;
  /** What the caller says, and when. */
  readonly says?: readonly { readonly atMs: number; readonly samples: Int16Array }[];
  /** The server had its voice stopped, at `atMs` of the call. */
  onClear?(atMs: number): void;
}

const SLIP_EVERY_MS = 8000;
const FRAME_SAMPLES = msToSamples(FRAME_MS, LINE_RATE_HZ);

/** Places the call; resolves when it is over. */
export async function placeEchoingCall(options: EchoingCallOptions, callSid: string): Promise<void> {
  const track = new Int16Array(options.seconds * LINE_RATE_HZ);
  const telephone = new Telephone(options, track);
  const caller: TwilioCaller = new TwilioCaller({
    url: options.url,
    tracks: { inbound: track },
    pace: 'realtime',
    clock: systemClock,
    callSid,
    parameters: options.parameters ?? {},
    onAudio: (payload) => telephone.receive(payload, telephone.now(caller.sentMs)),
    onClear: () => {
      telephone.clear();
      options.onClear?.(caller.sentMs);
    },
  });
  const timer = systemClock.every(FRAME_MS / 2, () => telephone.play(telephone.now(caller.sentMs)));
  try {
    await caller.run();
  } finally {
    timer.cancel();
  }
}

/** Plays what it gets, and writes what its microphone picks up into `track`, before that is sent. */
class Telephone {
  readonly #options: EchoingCallOptions;
  readonly #track: Int16Array;
  readonly #mix: Float64Array;
  readonly #echo: { readonly response: Float64Array; readonly gain: number };
  #waiting: Int16Array[] = [];
  #beganMs = Number.POSITIVE_INFINITY;
  /** Where the next waiting frame will be played. */
  #playsAt = 0;

  constructor(options: EchoingCallOptions, track: Int16Array) {
    const { line, says = [] } = options;
    const random = gaussian(line.seed);
    this.#options = options;
    this.#track = track;
    this.#mix = Float64Array.from(track, () => line.noise * random());
    for (const { atMs, samples } of says) {
      const at = msToSamples(atMs, LINE_RATE_HZ);
      for (let i = 0; i < samples.length && at + i < track.length; i++)
        this.#mix[at + i] = (this.#mix[at + i] as number) + (samples[i] as number);
    }
    const gain = line.levelDb === null ? 0 : 10 ** (line.levelDb / 20);
    this.#echo = { response: echoPath(line.path, LINE_RATE_HZ, line.seed), gain };
    this.#write(0, track.length);
  }

  /**
   * Where the call is by the clock, in samples. A caller on a busy machine sends late and catches up; a telephone plays
   * on all the same.
   */
  now(sentMs: number): number {
    const nowMs = systemClock.nowMs();
    this.#beganMs = Math.min(this.#beganMs, nowMs - sentMs);
    return msToSamples(nowMs - this.#beganMs, LINE_RATE_HZ);
  }

  receive(payload: Uint8Array, nowAt: number): void {
    if (this.#waiting.length === 0) this.#playsAt = Math.max(this.#playsAt, nowAt);
    const samples = decodeG711(payload, MULAW_8K);
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES)
      this.#waiting.push(samples.subarray(at, at + FRAME_SAMPLES));
    this.play(nowAt);
  }

  clear(): void {
    this.#waiting = [];
  }

  play(nowAt: number): void {
    while (this.#waiting.length > 0 && this.#playsAt <= nowAt + FRAME_SAMPLES) {
      const frame = this.#waiting.shift() as Int16Array;
      this.#pickUp(frame);
      this.#playsAt += frame.length;
    }
  }

  #pickUp(frame: Int16Array): void {
    const { line } = this.#options;
    if (this.#echo.gain === 0) return;
    const highest = line.clipAt * 32_767;
    const played = Float64Array.from(frame, (sample) => Math.max(-highest, Math.min(highest, sample)));
    const slips = Math.floor(this.#playsAt / msToSamples(SLIP_EVERY_MS, LINE_RATE_HZ)) % 2;
    const at = this.#playsAt + msToSamples(line.delayMs + slips * line.slipMs, LINE_RATE_HZ);
    addEcho(this.#mix, at, played, this.#echo);
    this.#write(at, at + played.length + this.#echo.response.length);
  }

  #write(from: number, to: number): void {
    for (let i = from; i < Math.min(to, this.#track.length); i++) this.#track[i] = toSample(this.#mix[i] as number);
  }
}
