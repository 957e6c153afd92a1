/**
 * A thread in which recordings that apps have played are decoded: samples of some minutes take longer than a call may
 * wait for its next frame.
 */
import { mixDown } from '../../audio/mix.ts';
import { readWav } from '../../audio/wav.ts';
import { serveWork } from '../../foundation/workers/worker-thread.ts';
import type { MonoAudio } from './audio-fetch.ts';

function toMono(bytes: Uint8Array): MonoAudio {
  const { channels, rateHz } = readWav(bytes);
  return { samples: mixDown(channels), rateHz };
}

serveWork<Uint8Array, MonoAudio>({
  begin: (bytes) => ({ next: () => toMono(bytes), close: () => undefined }),
  transfer: ({ samples }) => [samples.buffer as ArrayBuffer],
});
