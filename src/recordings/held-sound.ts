/** Decoded sound at the rate of the engines, until it is handed on: mixed, or channel by channel. */
import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Stretch } from '../audio/decode.ts';
import { joinSamples, mixDown } from '../audio/mix.ts';
import { Resampler } from '../audio/resample.ts';
import type { ChannelMode } from './decode-messages.ts';
import { tooManyChannels, unreadable } from './refusals.ts';

interface HeldSoundOptions {
  readonly channels: ChannelMode;
  /** Most channels with `split`. */
  readonly channelsMax: number;
}

/** Of one file or stream. */
export class HeldSound {
  readonly #options: HeldSoundOptions;
  #resamplers: Resampler[] = [];
  #rateHz = 0;
  #held: Int16Array[] = [];

  constructor(options: HeldSoundOptions) {
    this.#options = options;
  }

  /** Samples of each channel that have not been taken. */
  get samples(): number {
    return this.#held[0]?.length ?? 0;
  }

  /** Adds what a decoder gave. @throws TrunklineError `audio_unreadable` for too many channels, or another number */
  add(stretch: Stretch | null): void {
    if (stretch === null) return;
    const { rateHz, channels } = stretch;
    const kept = this.#options.channels === 'mix' ? [mixDown(channels)] : channels;
    if (this.#rateHz === 0) this.#begin(rateHz, kept.length);
    if (rateHz !== this.#rateHz || kept.length !== this.#resamplers.length)
      throw unreadable('its sampling rate or number of channels changes');
    this.#hold(kept.map((samples, channel) => this.#resamplers[channel]?.push(samples) ?? samples));
  }

  /** No more is added. */
  finish(): void {
    this.#hold(this.#resamplers.map((resampler) => resampler.flush()));
  }

  /** The oldest samples of each channel, at most so many; empty ones where there are none. */
  take(samplesMax: number): Int16Array[] {
    const taken = this.#held.map((samples) => samples.slice(0, samplesMax));
    this.#held = this.#held.map((samples) => samples.subarray(samplesMax));
    return taken;
  }

  #hold(channels: readonly Int16Array[]): void {
    this.#held = channels.map((samples, channel) => joinSamples([this.#held[channel] ?? new Int16Array(0), samples]));
  }

  #begin(rateHz: number, channels: number): void {
    const { channelsMax } = this.#options;
    if (channels > channelsMax) throw tooManyChannels(channels, channelsMax);
    this.#rateHz = rateHz;
    this.#resamplers = Array.from({ length: channels }, () => new Resampler(rateHz, ENGINE_RATE_HZ));
  }
}
