/**
 * A thread in which recordings are decoded: mixed to one channel, resampled, cut to where something sounds where that
 * is wanted, and made as loud as everything else.
 */
import { type DecodableKind, openDecoder, PUSH_BYTES, type Stretch, type StretchDecoder } from '../audio/decode.ts';
import { DETECT_BYTES, detectAudio } from '../audio/detect.ts';
import { applyGain, phoneGain } from '../audio/loudness.ts';
import { joinSamples, mixDown } from '../audio/mix.ts';
import { Resampler } from '../audio/resample.ts';
import { trimSilence } from '../audio/trim.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { serveWork, type ThreadWork } from '../foundation/workers/worker-thread.ts';
import type { DecodedRecording, RecordingTask } from './recording-decoder.ts';

/** Higher rates bring a caller nothing. */
const RATE_MAX_HZ = 16_000;
/** Decoded in one step. */
const STEP_BYTES = 262_144;

class RecordingDecoding implements ThreadWork<DecodedRecording> {
  readonly #task: RecordingTask;
  readonly #kind: DecodableKind;
  readonly #decoder: StretchDecoder;
  readonly #blocks: Int16Array[] = [];
  #readBytes = 0;
  #samples = 0;
  #rateHz = 0;
  #resampler: Resampler | null = null;

  constructor(task: RecordingTask, kind: DecodableKind, decoder: StretchDecoder) {
    this.#task = task;
    this.#kind = kind;
    this.#decoder = decoder;
  }

  /** @throws TrunklineError `audio_unreadable`, `audio_too_long` */
  next(): DecodedRecording {
    const { bytes } = this.#task;
    const stepEnd = Math.min(this.#readBytes + STEP_BYTES, bytes.length);
    while (this.#readBytes < stepEnd) {
      const end = Math.min(this.#readBytes + PUSH_BYTES[this.#kind], stepEnd);
      // Copied, because decoders keep what they cannot use yet.
      this.#take(this.#decoder.push(bytes.slice(this.#readBytes, end)));
      this.#readBytes = end;
    }
    if (this.#readBytes < bytes.length) return { sound: null };
    this.#take(this.#decoder.flush());
    this.#hold(this.#resampler?.flush() ?? new Int16Array(0));
    return { sound: this.#finish() };
  }

  close(): void {
    this.#decoder.close();
  }

  #take(stretch: Stretch | null): void {
    if (stretch === null) return;
    const { rateHz, channels } = stretch;
    if (this.#rateHz === 0) {
      this.#rateHz = rateHz;
      if (rateHz > RATE_MAX_HZ) this.#resampler = new Resampler(rateHz, RATE_MAX_HZ);
    }
    if (rateHz !== this.#rateHz) throw unreadable('its sampling rate changes on the way');
    const mono = mixDown(channels);
    this.#hold(this.#resampler?.push(mono) ?? mono);
  }

  #hold(block: Int16Array): void {
    const { maxSeconds } = this.#task;
    this.#blocks.push(block);
    this.#samples += block.length;
    if (this.#samples > maxSeconds * Math.min(this.#rateHz, RATE_MAX_HZ))
      throw new TrunklineError('audio_too_long', `the recording is longer than ${maxSeconds} s, the most allowed`);
  }

  #finish(): DecodedRecording['sound'] {
    const rateHz = Math.min(this.#rateHz, RATE_MAX_HZ);
    const whole = joinSamples(this.#blocks);
    const samples = this.#task.silenceAround === 'cut' ? trimSilence(whole, rateHz) : whole;
    if (samples.length === 0) throw unreadable('there is no sound in it');
    return { samples: applyGain(samples, phoneGain(samples, rateHz)), rateHz };
  }
}

async function begin(task: RecordingTask): Promise<RecordingDecoding> {
  const kind = detectAudio(task.bytes.subarray(0, DETECT_BYTES));
  if (kind === 'text' || kind === 'other') throw unreadable(`it is ${kind === 'text' ? 'text' : 'of another kind'}`);
  return new RecordingDecoding(task, kind, await openDecoder(kind, task.bytes.length));
}

function unreadable(why: string): TrunklineError {
  return new TrunklineError(
    'audio_unreadable',
    `the recording cannot be used: ${why}, expected WAV, MP3, FLAC or Ogg (Vorbis, Opus)`,
  );
}

serveWork<RecordingTask, DecodedRecording>({
  begin,
  transfer: ({ sound }) => (sound === null ? [] : [sound.samples.buffer as ArrayBuffer]),
});
