import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { StreamDecoders } from '../../../src/recordings/streams/stream-decoders.ts';
import { streamKindOf } from '../../../src/recordings/streams/stream-kind.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { eventually } from '../../helpers/eventually.ts';
import { flacOfSilence } from '../../helpers/flac.ts';

const HAS_FFMPEG = spawnSync('ffmpeg', ['-version']).status === 0;
const PATH = process.env['PATH'];
const WAV = packagePath('fixtures', 'audio', 'short.wav');
/** Samples of `short.*` at 16 kHz; encoders add up to a few frames. */
const SHORT_SAMPLES = 42_900;
const ENCODER_SAMPLES = 4000;

let decoders: StreamDecoders;
beforeEach(() => {
  decoders = new StreamDecoders({ clock: new FakeClock(), ffmpegTimeoutMs: 60_000 });
});
afterEach(() => {
  process.env['PATH'] = PATH;
  decoders.close();
});

function fixture(name: string): Uint8Array {
  return readFileSync(packagePath('fixtures', 'audio', name));
}

function encode(...options: string[]): Uint8Array {
  return spawnSync('ffmpeg', ['-v', 'error', '-i', WAV, ...options, 'pipe:1']).stdout;
}

function kindOf(bytes: Uint8Array) {
  const kind = streamKindOf(bytes.subarray(0, 4096), false);
  if (!kind) throw new Error('the stream has no kind');
  return kind;
}

/** Samples of each channel of a stream that comes in pieces of `size` bytes. */
async function decode(bytes: Uint8Array, size = 1000, channels: 'mix' | 'split' = 'mix'): Promise<number[]> {
  const totals: number[] = [];
  const onSound = async (sound: readonly Int16Array[]) => {
    for (const [at, samples] of sound.entries()) totals[at] = (totals[at] ?? 0) + samples.length;
  };
  const stream = decoders.open({ kind: kindOf(bytes), channels, onSound });
  try {
    for (let at = 0; at < bytes.length; at += size) await stream.push(bytes.subarray(at, at + size));
    await stream.end();
  } finally {
    stream.close();
  }
  return totals;
}

function expectShort([samples = 0, ...others]: number[]): void {
  expect(others).toEqual([]);
  expect(Math.abs(samples - SHORT_SAMPLES)).toBeLessThan(ENCODER_SAMPLES);
}

describe('streams that are decoded while they come', () => {
  it.each(['short.mp3', 'short.flac', 'short.ogg'])('are read whole: %s', async (name) => {
    expectShort(await decode(fixture(name)));
    expectShort(await decode(fixture(name), 77));
  });

  it('may begin in the middle of a frame of MP3', async () => {
    const [samples = 0] = await decode(fixture('short.mp3').subarray(700));
    expect(samples).toBeGreaterThan(SHORT_SAMPLES * 0.9);
  });

  it('are told before their end', async () => {
    let heard = 0;
    const onSound = async ([samples]: readonly Int16Array[]) => {
      heard += samples?.length ?? 0;
    };
    const bytes = fixture('short.mp3');
    const stream = decoders.open({ kind: kindOf(bytes), channels: 'mix', onSound });
    await stream.push(bytes.subarray(0, 9000));
    expect(heard).toBeGreaterThan(SHORT_SAMPLES / 3);
    stream.close();
  });

  it('hand on minutes of silence in a few bytes bit by bit, and no more than is wanted', async () => {
    let told = 0;
    let most = 0;
    let isWanted: () => void = () => undefined;
    const onSound = ([samples]: readonly Int16Array[]) => {
      told++;
      most = Math.max(most, samples?.length ?? 0);
      return new Promise<void>((resolve) => {
        isWanted = resolve;
      });
    };
    const bytes = flacOfSilence(600);
    const stream = decoders.open({ kind: kindOf(bytes), channels: 'mix', onSound });
    let isTaken = false;
    void stream.push(bytes).then(
      () => {
        isTaken = true;
      },
      () => undefined,
    );
    await eventually(() => expect(told).toBe(1));
    isWanted();
    await eventually(() => expect(told).toBe(2));
    expect(isTaken).toBe(false);
    expect(most).toBeLessThanOrEqual(32_000);
    stream.close();
  });

  it('are refused where they are damaged', async () => {
    const bytes = Buffer.concat([fixture('short.flac').subarray(0, 4), Buffer.alloc(4000, 0xa5)]);
    const stream = decoders.open({ kind: kindOf(bytes), channels: 'mix', onSound: async () => undefined });
    const read = async () => {
      await stream.push(bytes);
      await stream.end();
    };
    await expect(read()).rejects.toMatchObject({ code: 'audio_unreadable' });
    stream.close();
  });

  it('need ffmpeg where no decoder of ours reads them, and say so where there is none', async () => {
    const bytes = Buffer.from('#!AMR\n'.padEnd(100, '\0'), 'latin1');
    process.env['PATH'] = join(packagePath('fixtures'), 'no-such-folder');
    await expect(decode(bytes)).rejects.toThrow('it is AMR, which needs ffmpeg on the PATH of the server');
  });

  it.runIf(HAS_FFMPEG).each([
    ['AAC', ['-c:a', 'aac', '-f', 'adts']],
    ['MP4', ['-c:a', 'aac', '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']],
    ['MPEG-TS', ['-c:a', 'aac', '-f', 'mpegts']],
    ['AU', ['-f', 'au']],
    ['this kind of WAV', ['-c:a', 'adpcm_ms', '-f', 'wav']],
  ])('are read by ffmpeg where they are %s', async (name, options) => {
    const bytes = encode(...options);
    expect(kindOf(bytes).name).toBe(name);
    expectShort(await decode(bytes));
  });

  it.runIf(HAS_FFMPEG)('have each channel by itself where that is asked for', async () => {
    const both = encode('-ac', '2', '-c:a', 'aac', '-f', 'adts');
    expect(await decode(both, 1000, 'split')).toHaveLength(2);
    const mp3 = encode('-ac', '2', '-c:a', 'libmp3lame', '-f', 'mp3');
    expect(await decode(mp3, 1000, 'split')).toHaveLength(2);
  });
});
