import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { messageSoundId } from '../../../src/calls/sound/message-recording.ts';
import { ALAW_8K, MULAW_8K } from '../../../src/foundation/units.ts';
import { soundName } from '../../../src/records/sound/sound-paths.ts';
import {
  ALL,
  bytesOf,
  makeFolder,
  type OpenedStore,
  openStore,
  owner,
  recordTones,
  removeFolder,
  STARTED_AT,
  tone,
  wavOf,
} from './sound-files.ts';

const KEY = '7f3b0a'.padEnd(64, '5');
const OTHER_KEY = '00'.repeat(32);
const signal = new AbortController().signal;

let folder: string;
const opened: OpenedStore[] = [];

beforeEach(async () => {
  folder = await makeFolder();
});

afterEach(async () => {
  for (const { store } of opened.splice(0)) await store.close();
  await removeFolder(folder);
});

async function open(key = ''): Promise<OpenedStore> {
  const store = await openStore(folder, key);
  opened.push(store);
  return store;
}

async function reopen(key = ''): Promise<OpenedStore> {
  for (const { store } of opened.splice(0)) await store.close();
  return open(key);
}

const dayOf = (): string => join(folder, '2026', '03', '14');

async function fileOf(): Promise<string> {
  const [name = ''] = await readdir(dayOf());
  return join(dayOf(), name);
}

test('a call is a WAV file of two channels, as long as the call, the caller on the left', async () => {
  const opened = await open();
  await recordTones(opened, 'CA1');
  const { rateHz, channels } = readWav(await wavOf(opened.store, 'CA1'));
  expect(rateHz).toBe(8000);
  expect(channels.map((samples) => samples.length)).toEqual([16_000, 16_000]);
  expect(crossings(channels[0] ?? new Int16Array(0))).toBeCloseTo(2 * 440 * 2, -1);
  expect(crossings(channels[1] ?? new Int16Array(0))).toBeCloseTo(2 * 880 * 2, -1);
});

test.each([
  ['G.711 A-law', ALAW_8K, 16_000],
  ['linear sound of 16 kHz', { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 } as const, 32_000],
])('%s keeps its rate', async (_what, codec, samples) => {
  const opened = await open();
  await recordTones(opened, 'CA1', { codec });
  const { rateHz, channels } = readWav(await wavOf(opened.store, 'CA1'));
  expect([rateHz, channels[0]?.length]).toEqual([codec.rateHz, samples]);
});

test('files and folders are closed to other users, and lie in the folder of their day', async () => {
  const opened = await open();
  await recordTones(opened, 'CA1');
  expect((await stat(await fileOf())).mode & 0o777).toBe(0o600);
  expect((await stat(dayOf())).mode & 0o777).toBe(0o700);
  expect(opened.rows.get('CA1')).toBe((await stat(await fileOf())).size);
});

test('messages of a call have files of their own, and go with the call', async () => {
  const opened = await open();
  await recordTones(opened, 'CA1');
  await recordTones(opened, messageSoundId('CA1', 1), { durationMs: 500 });
  await recordTones(opened, messageSoundId('CA1', 20), { durationMs: 500 });
  await recordTones(opened, messageSoundId('CA11', 1), { durationMs: 500 });
  expect((await wavOf(opened.store, messageSoundId('CA1', 1))).length).toBe(44 + 500 * 8 * 4);
  const bytesOfMessage = async (n: number) =>
    (await stat(join(dayOf(), soundName(owner(messageSoundId('CA1', n)))))).size;
  const [first, last] = [await bytesOfMessage(1), await bytesOfMessage(20)];
  expect(opened.rows.get('CA1 messages')).toBe(first + last);
  expect(await opened.store.remove(owner(messageSoundId('CA1', 20)))).toBe(last);
  expect(opened.rows.get('CA1 messages')).toBe(first);
  expect(await opened.store.remove(owner('CA1'))).toBeGreaterThan(first);
  expect(opened.rows.get('CA1 messages')).toBeNull();
  expect(await readdir(dayOf())).toHaveLength(1);
  expect((await wavOf(opened.store, messageSoundId('CA11', 1))).length).toBe(44 + 500 * 8 * 4);
});

test('any range of bytes is that part of the whole file', async () => {
  const opened = await open(KEY);
  await recordTones(opened, 'CA1', { durationMs: 30_000 });
  const whole = await wavOf(opened.store, 'CA1');
  expect(whole.length).toBe(44 + 30 * 8000 * 4);
  for (const [first, last] of [
    [0, 0],
    [0, 43],
    [40, 50],
    [44, 45],
    [45, 45],
    [100_001, 500_002],
    [959_000, 2_000_000],
  ] as const) {
    const stream = await opened.store.read(owner('CA1'), { untilMs: null, wanted: { first, last } }, signal);
    expect(stream.totalBytes).toBe(whole.length);
    expect(await bytesOf(stream.bytes)).toEqual(whole.subarray(first, last + 1));
  }
  const tail = await opened.store.read(owner('CA1'), { untilMs: null, wanted: { first: null, last: 100 } }, signal);
  expect(await bytesOf(tail.bytes)).toEqual(whole.subarray(-100));
});

test('bytes behind the end are no range', async () => {
  const opened = await open();
  await recordTones(opened, 'CA1');
  const stream = await opened.store.read(
    owner('CA1'),
    { untilMs: null, wanted: { first: 10_000_000, last: null } },
    signal,
  );
  expect(stream.range).toBeNull();
  stream.close();
});

test('where nothing was recorded there is silence, and it takes no room', async () => {
  const opened = await open();
  const sink = opened.store.open({
    callId: 'CA1',
    startedAt: STARTED_AT,
    codec: MULAW_8K,
    onTrouble: () => undefined,
    onRecovered: () => undefined,
  });
  sink.add('caller', tone(440, 0, 8000), 0);
  sink.add('caller', tone(440, 0, 8000), 3_600_000);
  sink.end(3_600_020);
  await expect.poll(() => opened.rows.get('CA1')).toBeGreaterThan(0);
  expect(opened.rows.get('CA1')).toBeLessThan(1000);
  const stream = await opened.store.read(
    owner('CA1'),
    { untilMs: null, wanted: { first: 44 + 32_000, last: 44 + 63_999 } },
    signal,
  );
  expect((await bytesOf(stream.bytes)).every((byte) => byte === 0)).toBe(true);
  const end = await opened.store.read(
    owner('CA1'),
    { untilMs: null, wanted: { first: 44 + 3600 * 32_000, last: null } },
    signal,
  );
  expect((await bytesOf(end.bytes)).some((byte) => byte !== 0)).toBe(true);
});

test('sound on disk cannot be read without the key, and the error names both keys', async () => {
  const opened = await open(KEY);
  await recordTones(opened, 'CA1');
  const { store } = await reopen(OTHER_KEY);
  await expect(store.read(owner('CA1'), ALL, signal)).rejects.toMatchObject({
    code: 'sound_locked',
    message: expect.stringMatching(/key [0-9a-f]{16}, but RECORD_KEY is the key [0-9a-f]{16}/),
  });
  const without = await reopen();
  await expect(without.store.read(owner('CA1'), ALL, signal)).rejects.toMatchObject({ code: 'sound_locked' });
  const again = await reopen(KEY);
  expect((await wavOf(again.store, 'CA1')).length).toBe(44 + 64_000);
});

test('a passphrase makes the same key at every start', async () => {
  const opened = await open('correct horse battery');
  await recordTones(opened, 'CA1');
  const { store } = await reopen('correct horse battery');
  expect((await wavOf(store, 'CA1')).length).toBe(44 + 64_000);
});

test.each([
  ['a byte is changed', (bytes: Buffer) => void bytes.writeUInt8(bytes.readUInt8(1000) ^ 1, 1000), 'changed'],
  ['its end is cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length - 60), 'its end is missing'],
  ['a record is left out', leaveOut, 'changed, moved or left out'],
  ['two records change places', swap, 'changed, moved or left out'],
])('an encrypted file of which %s is refused', async (_what, spoil, why) => {
  const opened = await open(KEY);
  await recordTones(opened, 'CA1', { durationMs: 8000 });
  const path = await fileOf();
  const bytes = await readFile(path);
  await writeFile(path, spoil(bytes) ?? bytes);
  await expect(wavOf(opened.store, 'CA1')).rejects.toMatchObject({
    code: 'sound_damaged',
    message: expect.stringContaining(why),
  });
});

test('of a live call there is what was written so far', async () => {
  const opened = await open();
  const sink = opened.store.open({
    callId: 'CA1',
    startedAt: STARTED_AT,
    codec: MULAW_8K,
    onTrouble: () => undefined,
    onRecovered: () => undefined,
  });
  for (let atMs = 0; atMs < 3000; atMs += 20) sink.add('caller', tone(440, atMs, 8000), atMs);
  opened.clock.advance(3000);
  await expect.poll(() => opened.store.bytes).toBeGreaterThan(300);
  expect((await wavOf(opened.store, 'CA1')).length).toBe(44 + 3 * 32_000);
  sink.end(3000);
});

test('a call that was not recorded has no sound', async () => {
  const { store } = await open();
  await expect(store.read(owner('CA1'), ALL, signal)).rejects.toMatchObject({ code: 'sound_not_found' });
});

test('the oldest sound is found and removed first, live sound too when it is named', async () => {
  const opened = await open();
  await recordTones(opened, 'CA1');
  expect(await opened.store.oldest()).toMatchObject({ callId: 'CA1', startedMs: STARTED_AT.getTime() });
  expect(await opened.store.remove(owner('CA1'))).toBeGreaterThan(300);
  expect(await opened.store.oldest()).toBeNull();
  expect(opened.rows.get('CA1')).toBeNull();
  const sink = opened.store.open({
    callId: 'CA2',
    startedAt: STARTED_AT,
    codec: MULAW_8K,
    onTrouble: () => undefined,
    onRecovered: () => undefined,
  });
  await opened.store.remove(owner('CA2'));
  sink.add('caller', tone(440, 0, 8000), 0);
  sink.end(20);
  expect(await readdir(join(folder, 'unfinished'))).toEqual([]);
});

/** Where the records of a file are: heads begin after the header and follow each other. */
function records(bytes: Buffer): { from: number; to: number }[] {
  const found = [];
  for (let from = 12 + bytes.readUInt32LE(8) + 4; from < bytes.length; ) {
    const to = from + 20 + bytes.readUInt32LE(from);
    found.push({ from, to });
    from = to;
  }
  return found;
}

function leaveOut(bytes: Buffer): Buffer {
  const [, second] = records(bytes);
  return Buffer.concat([bytes.subarray(0, second?.from), bytes.subarray(second?.to)]);
}

function swap(bytes: Buffer): Buffer {
  const [first, second] = records(bytes);
  const [a, b] = [bytes.subarray(first?.from, first?.to), bytes.subarray(second?.from, second?.to)];
  return Buffer.concat([bytes.subarray(0, first?.from), b, a, bytes.subarray(second?.to)]);
}

function crossings(samples: Int16Array): number {
  return samples.reduce((count, sample, i) => count + (i > 0 && sample >= 0 !== (samples[i - 1] ?? 0) >= 0 ? 1 : 0), 0);
}
