/** What Chromium's MediaRecorder streams is read where no encoding is named. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OpusUnpacker, packedMs } from '../../src/audio/opus-stream.ts';
import { AudioInput } from '../../src/clients/deepgram/wire/audio-input.ts';
import { systemClock } from '../../src/foundation/clock.ts';
import { StreamDecoders } from '../../src/recordings/streams/stream-decoders.ts';
import { streamKindOf } from '../../src/recordings/streams/stream-kind.ts';
import { launchBrowser } from './chromium.ts';

const RATE_HZ = 16_000;
const PIECES = 6;

/** Runs inside a page: a tone in one channel, silence in the other, in pieces of about 250 ms, so many of them. */
const RECORD = `async ({ mimeType, count }) => {
  const context = new AudioContext();
  const target = context.createMediaStreamDestination();
  const merger = context.createChannelMerger(2);
  const tone = context.createOscillator();
  tone.connect(merger, 0, 0);
  merger.connect(target);
  tone.start();
  const recorder = new MediaRecorder(target.stream, { mimeType });
  const pieces = [];
  await new Promise((resolve) => {
    recorder.ondataavailable = ({ data }) => pieces.push(data) === count && resolve();
    recorder.start(250);
  });
  recorder.stop();
  return Promise.all(pieces.map(async (piece) => [...new Uint8Array(await piece.arrayBuffer())]));
}`;

const loudness = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length);

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser(['--autoplay-policy=no-user-gesture-required']);
});
afterAll(() => browser.close());

async function record(mimeType: string): Promise<Uint8Array[]> {
  const page = await browser.newPage();
  const pieces = await page.evaluate<number[][]>(`(${RECORD})(${JSON.stringify({ mimeType, count: PIECES })})`);
  await page.close();
  return pieces.map((piece) => Uint8Array.from(piece));
}

describe('what Chromium records', () => {
  it('is read as two channels from WebM as it comes', async () => {
    const input = new AudioInput(null, true);
    const groups = (await record('audio/webm;codecs=opus')).flatMap((piece) => input.push(piece));
    expect(input.format).toEqual({ encoding: 'opus', rateHz: RATE_HZ, channels: 2 });
    expect(groups.reduce((ms, group) => ms + packedMs(group), 0)).toBeGreaterThan(1000);
    const unpacker = new OpusUnpacker(RATE_HZ, 2);
    const [left = new Int16Array(0), right = new Int16Array(0)] = unpacker.read(Buffer.concat(groups));
    unpacker.close();
    expect(unpacker.broken).toBe(0);
    expect(loudness(left.subarray(RATE_HZ / 2))).toBeGreaterThan(1000);
    expect(loudness(right.subarray(RATE_HZ / 2))).toBeLessThan(100);
  });

  it('is read as two channels from MP4 as it comes, where there is ffmpeg', async () => {
    const decoders = new StreamDecoders({ clock: systemClock, ffmpegTimeoutMs: 60_000 });
    const heard: Int16Array[] = [];
    const onSound = async ([left = new Int16Array(0)]: readonly Int16Array[]) => void heard.push(left);
    const pieces = await record('audio/mp4');
    const kind = streamKindOf(Buffer.concat(pieces), true);
    expect(kind).toMatchObject({ name: 'MP4' });
    if (!kind) return;
    const decoding = decoders.open({ kind, channels: 'split', onSound });
    for (const piece of pieces) await decoding.push(piece);
    await decoding.end();
    const left = Int16Array.from(heard.flatMap((part) => [...part]));
    expect(left.length).toBeGreaterThan(RATE_HZ);
    expect(loudness(left.subarray(RATE_HZ / 2))).toBeGreaterThan(1000);
  });

  it('is refused by its name where it is samples', async () => {
    const input = new AudioInput(null, true);
    const pieces = await record('audio/webm;codecs=pcm');
    expect(() => pieces.forEach((piece) => void input.push(piece))).toThrow('got WebM with A_PCM/FLOAT/IEEE');
  });
});
