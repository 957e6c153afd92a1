import { afterEach, beforeEach, expect, test } from 'vitest';
import { SoundWriter } from '../../../src/records/sound/sound-writer.ts';
import { makeFolder, type OpenedStore, openStore, owner, removeFolder, STARTED_AT } from './sound-files.ts';

/** What a call of three hours has. */
const RECORDS = 7200;
const SAMPLES = 160;
const READERS = 200;

let folder: string;
let opened: OpenedStore;
beforeEach(async () => {
  folder = await makeFolder();
  const writer = SoundWriter.create(
    folder,
    { callId: 'CA1', startedMs: STARTED_AT.getTime(), law: 'mulaw', rateHz: 8000 },
    null,
  );
  const samples = Int16Array.from({ length: SAMPLES }, (_, i) => 3000 + i);
  const stretches = Array.from({ length: RECORDS }, (_, i) => ({
    kind: 'caller' as const,
    startSample: i * SAMPLES,
    samples,
  }));
  writer.add(stretches);
  writer.finish(RECORDS * SAMPLES);
  opened = await openStore(folder);
});
afterEach(async () => {
  await opened.store.close();
  await removeFolder(folder);
});

test('a long call is heard by two hundred at once, and the next is told to wait', async () => {
  const { signal } = new AbortController();
  const part = (first: number) => ({ untilMs: null, wanted: { first, last: first + 999 } });
  const streams = await Promise.all(
    Array.from({ length: READERS }, (_, i) => opened.store.read(owner('CA1'), part(44 + i * 4000), signal)),
  );
  await expect(opened.store.read(owner('CA1'), part(44), signal)).rejects.toMatchObject({ code: 'too_many_requests' });
  for (const { bytes } of streams) {
    let length = 0;
    for await (const chunk of bytes) length += chunk.length;
    expect(length).toBe(1000);
  }
  (await opened.store.read(owner('CA1'), part(44), signal)).close();
});

test('a reader that goes before the first byte gives its place back', async () => {
  for (let i = 0; i < READERS + 1; i++) {
    const leave = new AbortController();
    await opened.store.read(owner('CA1'), { untilMs: null, wanted: { first: 0, last: 9 } }, leave.signal);
    leave.abort();
  }
});
