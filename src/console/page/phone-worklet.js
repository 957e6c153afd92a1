/**
 * The phone's part on the browser's audio thread: microphone → 8 kHz µ-law frames of 20 ms, and frames of the server →
 * loudspeaker. It is told `{media}`, `{mark}`, `{clear}`, `{end}` and tells `{frame, level}`, `{mark}`, `{playing}`,
 * `{overflow}`.
 */
import { encodeMulaw, FRAME_SAMPLES, LINE_RATE_HZ, Player, Resampler } from './phone-audio.js';

/**
 * @typedef {{ media: Uint8Array } | { mark: string } | { clear: true } | { end: true }} ToWorklet
 * @typedef {{ frame: Uint8Array, level: number } | { mark: string } | { playing: boolean } | { overflow: true }}
 * FromWorklet level is an RMS, 0 to 1
 * @typedef {{ AudioWorkletProcessor: { new (): { readonly port: MessagePort } }, sampleRate: number,
 *   registerProcessor: (name: string, processor: new () => object) => void }} WorkletScope what the DOM types of
 * TypeScript lack
 */

const { AudioWorkletProcessor, registerProcessor, sampleRate } = /** @type {WorkletScope} */ (
  /** @type {unknown} */ (globalThis)
);

/** Outputs that the browser has not asked for yet: one sample of the line may become this many on any sound card. */
const AHEAD_SAMPLES = 1024;

class PhoneProcessor extends AudioWorkletProcessor {
  #down = new Resampler(sampleRate, LINE_RATE_HZ);
  #up = new Resampler(LINE_RATE_HZ, sampleRate);
  #player = new Player((mark) => this.#tell({ mark }));
  #ended = false;
  #wasPlaying = false;
  #frame = new Uint8Array(FRAME_SAMPLES);
  #framed = 0;
  #energy = 0;
  #ahead = new Float32Array(AHEAD_SAMPLES);
  #aheadCount = 0;
  #takeSample = (/** @type {number} */ sample) => this.#addToFrame(sample);
  #say = (/** @type {number} */ sample) => {
    this.#ahead[this.#aheadCount] = sample;
    this.#aheadCount += 1;
  };

  constructor() {
    super();
    this.port.onmessage = ({ data }) => this.#receive(data);
  }

  /** @param {ToWorklet} message */
  #receive(message) {
    if ('media' in message) {
      if (!this.#player.add(message.media)) this.#tell({ overflow: true });
    } else if ('mark' in message) this.#player.mark(message.mark);
    else if ('clear' in message) this.#player.clear();
    else this.#ended = true;
  }

  /** @param {FromWorklet} message @param {Transferable[]} [transfer] */
  #tell(message, transfer = []) {
    this.port.postMessage(message, transfer);
  }

  /**
   * One block of the sound card's clock.
   * @param {readonly Float32Array[][]} inputs @param {readonly Float32Array[][]} outputs @returns {boolean} false =
   * never call again
   */
  process(inputs, outputs) {
    const [speaker = []] = outputs;
    const length = speaker[0]?.length ?? 0;
    this.#listen(inputs[0]?.[0], length);
    this.#speak(speaker, length);
    if (this.#player.playing !== this.#wasPlaying) {
      this.#wasPlaying = this.#player.playing;
      this.#tell({ playing: this.#wasPlaying });
    }
    return !this.#ended;
  }

  /**
   * Where the microphone gives nothing, silence goes out at the same pace. @param {Float32Array | undefined} microphone
   * @param {number} length
   */
  #listen(microphone, length) {
    for (let at = 0; at < length; at++) this.#down.push(microphone?.[at] ?? 0, this.#takeSample);
  }

  /** @param {number} sample */
  #addToFrame(sample) {
    this.#frame[this.#framed] = encodeMulaw(sample);
    this.#framed += 1;
    this.#energy += sample * sample;
    if (this.#framed < FRAME_SAMPLES) return;
    const level = Math.sqrt(this.#energy / FRAME_SAMPLES);
    this.#tell({ frame: this.#frame, level }, [this.#frame.buffer]);
    this.#frame = new Uint8Array(FRAME_SAMPLES);
    this.#framed = 0;
    this.#energy = 0;
  }

  /** @param {readonly Float32Array[]} speaker @param {number} length */
  #speak(speaker, length) {
    while (this.#aheadCount < length) this.#up.push(this.#player.next(), this.#say);
    for (const channel of speaker) channel.set(this.#ahead.subarray(0, length));
    this.#ahead.copyWithin(0, length, this.#aheadCount);
    this.#aheadCount -= length;
  }
}

registerProcessor('phone', PhoneProcessor);
