/**
 * A whole call by a given clock, without sockets and models: our playout, a network that is late by more or less, a
 * telephone that echoes, and the echo canceller as calls have it. A level stands in for voice detection: what passes
 * the canceller pauses what is said, as in a call.
 */
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { Timeline } from '../../src/audio/timeline.ts';
import { CallEcho } from '../../src/calls/inbound/call-echo.ts';
import { type OpenSound, Playout } from '../../src/calls/outbound/playout.ts';
import { type Codec, FRAME_MS, msToSamples } from '../../src/foundation/units.ts';
import { VirtualClock } from '../../src/foundation/virtual-clock.ts';
import type { CarrierCommand } from '../../src/protocols/dialect.ts';
import { type EchoingLine, EchoingTelephone, type Said } from './echoing-telephone.ts';
import { LINE_RATE_HZ, uniform } from './signals.ts';

/** What the call is like. */
export interface SimulatedCall {
  readonly line: EchoingLine;
  readonly codec: Codec;
  /** Whether the carrier buffers what it gets and returns marks, or plays what comes as it comes. */
  readonly isBuffered: boolean;
  /** The network's delay in each direction, and how much later than that messages come at most. */
  readonly networkMs: number;
  readonly jitterMs: number;
  /** Share of the caller's frames that never come. */
  readonly loss: number;
  /** The telephone plays only when it has so much. */
  readonly holdMs: number;
  readonly seconds: number;
  /** What we say, one after the other. */
  readonly prompts: readonly Int16Array[];
  /** From the end of a prompt to the next, in ms. */
  readonly pauseMs: number;
  /** Sentences are made late now and then, so that what is said has holes. */
  readonly hasHoles: boolean;
  readonly says: readonly Said[];
  readonly isCancelled?: boolean;
}

/** What became of the sound. */
export interface SimulatedOutcome {
  /** What came from the caller, and what is left of it, sample by sample. */
  readonly heard: Int16Array;
  readonly left: Int16Array;
  readonly delayMs: number | null;
  /** When our voice was paused by what passed, in ms of the call. */
  readonly pausedMs: readonly number[];
  /** What was left came so late at most, beside what came from the caller. */
  readonly heldMs: number;
}

const FRAME_SAMPLES = msToSamples(FRAME_MS, LINE_RATE_HZ);
/** So many loud frames in a row are speech; so many soft ones its end. In dB of full scale. */
const SPEECH_DB = -50;
const SPEECH_FRAMES = 4;
const SILENCE_FRAMES = 30;
/** Speech so long ends what is said. */
const CONFIRM_MS = 1000;
const SEGMENT_MS = 400;

/** Plays the call to its end. */
export function simulateEcho(call: SimulatedCall): SimulatedOutcome {
  return new Simulation(call).run();
}

class Simulation {
  readonly #call: SimulatedCall;
  readonly #clock = new VirtualClock();
  readonly #random: () => number;
  readonly #track: Int16Array;
  readonly #telephone: EchoingTelephone;
  readonly #echo: CallEcho;
  readonly #playout: Playout<object>;
  readonly #timeline = new Timeline({ rateHz: LINE_RATE_HZ, reorderMs: 100, gapMaxMs: 5000 });
  readonly #heard: Int16Array[] = [];
  readonly #left: Int16Array[] = [];
  readonly #pausedMs: number[] = [];
  readonly #marks: string[] = [];
  #heardSamples = 0;
  #leftSamples = 0;
  #heldSamples = 0;
  #downAtMs = 0;
  #upAtMs = 0;
  #loud = 0;
  #quiet = 0;
  #speaksSinceMs: number | null = null;
  #prompts = 0;

  constructor(call: SimulatedCall) {
    this.#call = call;
    this.#random = uniform(call.line.seed);
    this.#track = new Int16Array(call.seconds * LINE_RATE_HZ);
    this.#telephone = new EchoingTelephone(call.line, this.#track, call.says);
    this.#echo = new CallEcho(call.codec, this.#clock);
    this.#playout = new Playout<object>({
      codec: call.codec,
      clock: this.#clock,
      buffered: call.isBuffered,
      leadMs: 500,
      taps: [this.#echo],
      send: (command) => this.#carry(command),
      onBegun: () => undefined,
      onHeard: () => this.#clock.after(call.pauseMs, () => this.#speak()),
      onMarkLost: () => undefined,
      onFailure: (error) => {
        throw error;
      },
    });
  }

  run(): SimulatedOutcome {
    const { seconds } = this.#call;
    this.#clock.after(300, () => this.#speak());
    this.#clock.every(FRAME_MS, () => this.#pickUp());
    this.#clock.every(FRAME_MS / 2, () => this.#play());
    this.#clock.advance(seconds * 1000);
    this.#playout.close();
    this.#left.push(this.#echo.flush());
    return {
      heard: concat(this.#heard),
      left: concat(this.#left),
      delayMs: this.#echo.delayMs,
      pausedMs: this.#pausedMs,
      heldMs: (1000 * this.#heldSamples) / LINE_RATE_HZ,
    };
  }

  get #nowAt(): number {
    return msToSamples(this.#clock.nowMs(), LINE_RATE_HZ);
  }

  /** Says the next prompt, in pieces; a piece is late now and then. */
  #speak(): void {
    const { prompts, codec, hasHoles } = this.#call;
    const samples = prompts[this.#prompts++ % prompts.length] ?? new Int16Array(0);
    const bytes = encodeG711(samples.subarray(0, samples.length - (samples.length % FRAME_SAMPLES)), codec);
    this.#grow(this.#playout.open({}), bytes, hasHoles);
  }

  #grow(sound: OpenSound, bytes: Uint8Array, hasHoles: boolean): void {
    const size = msToSamples(SEGMENT_MS, LINE_RATE_HZ);
    sound.add(bytes.subarray(0, size));
    if (bytes.length <= size) {
      sound.end();
      return;
    }
    const isLate = hasHoles && this.#random() < 0.06;
    const afterMs = isLate ? 600 + 700 * this.#random() : SEGMENT_MS / 2;
    this.#clock.after(afterMs, () => this.#grow(sound, bytes.subarray(size), hasHoles));
  }

  /** A command on its way to the telephone. */
  #carry(command: CarrierCommand): void {
    this.#downAtMs = Math.max(this.#downAtMs, this.#clock.nowMs() + this.#networkMs());
    this.#clock.after(this.#downAtMs - this.#clock.nowMs(), () => {
      if (command.type === 'audio') this.#receive(command.bytes);
      if (command.type === 'clear') this.#telephone.clear();
      if (command.type === 'mark') this.#marks.push(command.name);
      this.#returnMarks();
    });
  }

  #receive(bytes: Uint8Array): void {
    const holdAt = this.#telephone.isIdle ? msToSamples(this.#call.holdMs, LINE_RATE_HZ) : 0;
    this.#telephone.receive(decodeG711(bytes, this.#call.codec), this.#nowAt + holdAt);
  }

  #play(): void {
    this.#telephone.play(this.#nowAt);
    this.#returnMarks();
  }

  #returnMarks(): void {
    if (!this.#telephone.isIdle) return;
    for (const name of this.#marks.splice(0)) this.#clock.after(this.#networkMs(), () => this.#playout.onMark(name));
  }

  #networkMs(): number {
    return this.#call.networkMs + this.#call.jitterMs * this.#random() ** 4;
  }

  /** The microphone's last frame begins its way to us. */
  #pickUp(): void {
    const { codec, loss } = this.#call;
    const at = this.#nowAt - FRAME_SAMPLES;
    const bytes = encodeG711(this.#track.subarray(at, at + FRAME_SAMPLES), codec);
    const sequence = at / FRAME_SAMPLES + 1;
    this.#upAtMs = Math.max(this.#upAtMs, this.#clock.nowMs() + this.#networkMs());
    if (sequence > 1 && this.#random() < loss) return;
    this.#clock.after(this.#upAtMs - this.#clock.nowMs(), () => {
      const samples = decodeG711(bytes, codec);
      const atMs = (1000 * at) / LINE_RATE_HZ;
      for (const stretch of this.#timeline.push({ samples, atMs, sequence })) this.#hear(stretch);
    });
  }

  #hear(stretch: Int16Array): void {
    const atMs = (1000 * this.#heardSamples) / LINE_RATE_HZ;
    this.#heard.push(stretch);
    this.#heardSamples += stretch.length;
    this.#echo.observe((1000 * this.#heardSamples) / LINE_RATE_HZ);
    const left = this.#call.isCancelled === false ? stretch : this.#echo.clean(stretch, atMs);
    this.#left.push(left);
    this.#leftSamples += left.length;
    this.#heldSamples = Math.max(this.#heldSamples, this.#heardSamples - this.#leftSamples);
    this.#detect(left);
  }

  #detect(samples: Int16Array): void {
    for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
      const isLoud = levelDb(samples.subarray(at, at + FRAME_SAMPLES)) > SPEECH_DB;
      this.#loud = isLoud ? this.#loud + 1 : 0;
      this.#quiet = isLoud ? 0 : this.#quiet + 1;
      this.#followSpeech();
    }
  }

  #followSpeech(): void {
    const nowMs = this.#clock.nowMs();
    if (this.#speaksSinceMs === null && this.#loud === SPEECH_FRAMES && !this.#playout.idle) {
      this.#speaksSinceMs = nowMs;
      this.#pausedMs.push(nowMs);
      this.#playout.pause();
    }
    if (this.#speaksSinceMs === null) return;
    if (this.#quiet >= SILENCE_FRAMES) {
      this.#speaksSinceMs = null;
      this.#playout.resume();
    } else if (nowMs - this.#speaksSinceMs > CONFIRM_MS && !this.#playout.idle) {
      this.#speaksSinceMs = null;
      this.#playout.drop(() => true);
      this.#playout.resume();
      this.#clock.after(this.#call.pauseMs + CONFIRM_MS, () => this.#speak());
    }
  }
}

/** The level of `samples`, in dB of full scale. */
export function levelDb(samples: Int16Array): number {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  return 20 * Math.log10(Math.sqrt(energy / Math.max(samples.length, 1)) / 32_768 + 1e-6);
}

function concat(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
