/** Sound of calls for tests: tones, and a store in a folder of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOfMessage } from '../../../src/calls/sound/message-recording.ts';
import { createLog } from '../../../src/foundation/log/log.ts';
import { Metrics } from '../../../src/foundation/metrics.ts';
import { type Codec, MULAW_8K, msToSamples } from '../../../src/foundation/units.ts';
import { readSoundKey } from '../../../src/records/sound/sound-key.ts';
import type { SoundOwner } from '../../../src/records/sound/sound-paths.ts';
import { type SoundPart, SoundStore } from '../../../src/records/sound/sound-store.ts';
import { FakeClock } from '../../fakes/clock.ts';

const metrics = new Metrics();

/** All of a sound. */
export const ALL: SoundPart = { untilMs: null, wanted: null };

/** When the calls of these tests began. */
export const STARTED_AT = new Date(Date.UTC(2026, 2, 14, 9, 26, 53));

export interface OpenedStore {
  readonly store: SoundStore;
  readonly clock: FakeClock;
  readonly folder: string;
  /** What was kept in the calls' rows; `CA1 messages` = of the messages of a call. */
  readonly rows: Map<string, number | null>;
}

/** A folder that the caller removes with {@link removeFolder}. */
export function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'trunkline-sound-'));
}

export function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

export async function openStore(folder: string, recordKey = ''): Promise<OpenedStore> {
  const clock = new FakeClock();
  const rows = new Map<string, number | null>();
  const store = await SoundStore.open({
    folder,
    key: await readSoundKey(recordKey),
    clock,
    log: createLog('silent', { write: () => undefined }),
    metrics,
    keptBytes: 0,
    noteBytes: async ({ callId }, bytes, of) => void rows.set(of === 'call' ? callId : `${callId} messages`, bytes),
  });
  await store.recover();
  return { store, clock, folder, rows };
}

export function owner(callId: string): SoundOwner {
  return { callId, startedMs: STARTED_AT.getTime() };
}

/** A call with a tone of `hz` on each channel for `durationMs`. */
export async function recordTones(
  { store, rows }: OpenedStore,
  callId: string,
  { durationMs = 2000, codec = MULAW_8K }: { readonly durationMs?: number; readonly codec?: Codec } = {},
): Promise<void> {
  const call = callOfMessage(callId);
  const row = call === null ? callId : `${call} messages`;
  const before = call === null ? 0 : (rows.get(row) ?? 0);
  const sink = store.open({
    callId,
    startedAt: STARTED_AT,
    codec,
    onTrouble: () => undefined,
    onRecovered: () => undefined,
  });
  for (let atMs = 0; atMs < durationMs; atMs += 20) {
    sink.add('caller', tone(440, atMs, codec.rateHz), atMs);
    sink.add('heard', tone(880, atMs, codec.rateHz), atMs);
  }
  sink.end(durationMs);
  // 0 = it is being recorded.
  while ((rows.get(row) ?? 0) <= before) await new Promise((resolve) => setImmediate(resolve));
}

/** 20 ms of a tone that goes on from frame to frame. */
export function tone(hz: number, atMs: number, rateHz: number, level = 12_000): Int16Array {
  const from = msToSamples(atMs, rateHz);
  return Int16Array.from({ length: msToSamples(20, rateHz) }, (_, i) =>
    Math.round(level * Math.sin((2 * Math.PI * hz * (from + i)) / rateHz)),
  );
}

/** All bytes of a stream. */
export async function bytesOf(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  return Buffer.concat(parts);
}

/** The sound of a call as WAV. */
export async function wavOf(store: SoundStore, callId: string): Promise<Buffer> {
  const { bytes } = await store.read(owner(callId), ALL, new AbortController().signal);
  return bytesOf(bytes);
}
