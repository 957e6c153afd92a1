/**
 * A thread in which recordings of prompts are decoded and made as loud as everything else: samples of some minutes
 * take longer than a call may wait for its next frame.
 */
import { applyGain, phoneGain } from '../audio/loudness.ts';
import { mixDown } from '../audio/mix.ts';
import { readWav } from '../audio/wav.ts';
import { serveWork } from '../foundation/workers/worker-thread.ts';
import type { MonoAudio } from './wav-leveller.ts';

function toMono(bytes: Uint8Array): MonoAudio {
  const { channels, rateHz } = readWav(bytes);
  const samples = mixDown(channels);
  return { samples: applyGain(samples, phoneGain(samples, rateHz)), rateHz };
}

serveWork<Uint8Array, MonoAudio>({
  begin: (bytes) => ({ next: () => toMono(bytes), close: () => undefined }),
  transfer: ({ samples }) => [samples.buffer as ArrayBuffer],
});
