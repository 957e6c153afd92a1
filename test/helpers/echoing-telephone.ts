/** A telephone that plays what it gets, and whose microphone picks that up besides what the caller says. */
import { toSample } from '../../src/audio/pcm.ts';
import { FRAME_MS, msToSamples } from '../../src/foundation/units.ts';
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

/** Something that the caller says. */
export interface Said {
  /** When, in ms of the call. */
  readonly atMs: number;
  readonly samples: Int16Array;
}

const SLIP_EVERY_MS = 8000;
const FRAME_SAMPLES = msToSamples(FRAME_MS, LINE_RATE_HZ);

export class EchoingTelephone {
  readonly #line: EchoingLine;
  readonly #track: Int16Array;
  readonly #mix: Float64Array;
  readonly #echo: { readonly response: Float64Array; readonly gain: number };
  #waiting: Int16Array[] = [];
  /** Where the next waiting frame will be played. */
  #playsAt = 0;

  /** What its microphone picks up is written to `track`, from the beginning of the call on, before it is sent. */
  constructor(line: EchoingLine, track: Int16Array, says: readonly Said[] = []) {
    const random = gaussian(line.seed);
    this.#line = line;
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

  /** Whether nothing waits to be played. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whole frames came, at sample `nowAt` of the call. */
  receive(samples: Int16Array, nowAt: number): void {
    if (this.isIdle) this.#playsAt = Math.max(this.#playsAt, nowAt);
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES)
      this.#waiting.push(samples.subarray(at, at + FRAME_SAMPLES));
    this.play(nowAt);
  }

  /** Throws away what waits. */
  clear(): void {
    this.#waiting = [];
  }

  /** Plays what is due at sample `nowAt` of the call, and a frame more. */
  play(nowAt: number): void {
    while (this.#waiting.length > 0 && this.#playsAt <= nowAt + FRAME_SAMPLES) {
      const frame = this.#waiting.shift() as Int16Array;
      this.#pickUp(frame);
      this.#playsAt += frame.length;
    }
  }

  #pickUp(frame: Int16Array): void {
    if (this.#echo.gain === 0) return;
    const highest = this.#line.clipAt * 32_767;
    const played = Float64Array.from(frame, (sample) => Math.max(-highest, Math.min(highest, sample)));
    const slips = Math.floor(this.#playsAt / msToSamples(SLIP_EVERY_MS, LINE_RATE_HZ)) % 2;
    const at = this.#playsAt + msToSamples(this.#line.delayMs + slips * this.#line.slipMs, LINE_RATE_HZ);
    addEcho(this.#mix, at, played, this.#echo);
    this.#write(at, at + played.length + this.#echo.response.length);
  }

  #write(from: number, to: number): void {
    for (let i = from; i < Math.min(to, this.#track.length); i++) this.#track[i] = toSample(this.#mix[i] as number);
  }
}
