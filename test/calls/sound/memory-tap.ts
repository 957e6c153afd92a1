/** Keeps the sound of calls in memory, each channel as one array. */
import type { SoundChannel, SoundSink, SoundTap, TappedCall } from '../../../src/calls/sound/sound-tap.ts';
import { msToSamples } from '../../../src/foundation/units.ts';
import { ChannelBuffer } from '../../../src/records/sound/channel-buffer.ts';

export class MemorySound implements SoundSink {
  readonly call: TappedCall;
  durationMs: number | null = null;
  readonly #channels: Readonly<Record<SoundChannel, ChannelBuffer>>;

  constructor(call: TappedCall) {
    this.call = call;
    this.#channels = {
      caller: new ChannelBuffer('caller', call.codec.rateHz, 600_000),
      heard: new ChannelBuffer('heard', call.codec.rateHz, 600_000),
    };
  }

  add(channel: SoundChannel, samples: Int16Array, atMs: number): void {
    this.#channels[channel].add(samples, atMs);
  }

  end(durationMs: number): void {
    this.durationMs = durationMs;
  }

  /** From when until when a channel is loud, in ms of the call; to be asked once. */
  loudIn(channel: SoundChannel): [number, number][] {
    const { rateHz } = this.call.codec;
    const stretches = this.#channels[channel].take();
    const length = Math.max(0, ...stretches.map(({ startSample, samples }) => startSample + samples.length));
    const whole = new Int16Array(length);
    for (const { startSample, samples } of stretches) whole.set(samples, startSample);
    const loud: [number, number][] = [];
    const step = msToSamples(5, rateHz);
    for (let at = 0; at < length; at += step) {
      if (!whole.subarray(at, at + step).some((sample) => Math.abs(sample) > 2000)) continue;
      const [fromMs, toMs] = [(at * 1000) / rateHz, ((at + step) * 1000) / rateHz];
      const last = loud.at(-1);
      if (last !== undefined && fromMs - last[1] < 15) last[1] = toMs;
      else loud.push([fromMs, toMs]);
    }
    return loud;
  }
}

/** What was opened, in order. */
export class MemoryTap implements SoundTap {
  readonly opened: MemorySound[] = [];

  open(call: TappedCall): MemorySound {
    const sound = new MemorySound(call);
    this.opened.push(sound);
    return sound;
  }
}
