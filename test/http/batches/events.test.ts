import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { BatchEvents } from '../../../src/http/batches/events.ts';
import type { Batch, BatchFile } from '../../../src/jobs/batch.ts';
import type { Batches, News } from '../../../src/jobs/batches.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** A connection whose reader may stop reading. */
class Connection extends EventEmitter {
  text = '';
  writableLength = 0;
  reads = true;
  ended = false;
  destroyed = false;
  writeHead = (): void => undefined;
  flushHeaders = (): void => undefined;

  write(text: string): void {
    this.text += text;
    if (!this.reads) this.writableLength += text.length;
  }

  end(): void {
    this.ended = true;
    this.emit('close');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const FILE: BatchFile = { number: 0, name: 'a', source: { kind: 'upload' }, state: 'done', durationMs: 1, error: null };

let clock: FakeClock;
let batch: Batch;
let listeners: Set<(news: News) => void>;
let events: BatchEvents;

beforeEach(() => {
  clock = new FakeClock();
  listeners = new Set();
  batch = {
    id: 'b',
    tenant: '',
    createdMs: 0,
    channels: 'mix',
    targetLanguage: '',
    idempotency: null,
    webhook: null,
    state: 'running',
    endedMs: null,
    files: [FILE],
  };
  const batches = {
    view: ({ state }: Batch) => ({ state }),
    viewFile: ({ number }: BatchFile) => ({ number }),
    watch: (_id: string, listener: (news: News) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  } as unknown as Batches;
  events = new BatchEvents({ batches, clock, settings: { FEED_READERS_MAX: 2, SEND_BUFFER_MAX_BYTES: 1000 } });
});

function tell(news: News): void {
  for (const listener of listeners) listener(news);
}

function follow(): Connection {
  const raw = new Connection();
  events.stream(batch, { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply);
  return raw;
}

describe('the events of a batch', () => {
  it('tell how it is, what happens, and how it has ended', () => {
    const reader = follow();
    tell({ type: 'progress', file: FILE });
    tell({ type: 'file', file: FILE });
    batch.state = 'done';
    tell({ type: 'end' });
    expect(reader.text.match(/^event: .*\ndata: .*$/gm)).toEqual([
      'event: batch\ndata: {"state":"running"}',
      'event: progress\ndata: {"number":0}',
      'event: file\ndata: {"number":0}',
      'event: end\ndata: {"state":"done"}',
    ]);
    expect([reader.ended, listeners.size]).toEqual([true, 0]);
    expect(follow()).toMatchObject({ text: 'event: end\ndata: {"state":"done"}\n\n', ended: true });
  });

  it('keep a silent connection alive, and no longer than it is there', () => {
    const reader = follow();
    const before = reader.text;
    clock.advance(45_000);
    expect(reader.text.slice(before.length)).toBe(':\n\n'.repeat(3));
    reader.destroy();
    clock.advance(45_000);
    expect([reader.text.slice(before.length), listeners.size]).toEqual([':\n\n'.repeat(3), 0]);
  });

  it('cut off a reader that does not read, and no other', () => {
    const [slow, quick] = [follow(), follow()];
    slow.reads = false;
    for (let told = 0; told < 25; told++) tell({ type: 'file', file: FILE });
    expect(slow.destroyed).toBe(false);
    for (let told = 0; told < 25; told++) tell({ type: 'file', file: FILE });
    expect(slow.destroyed).toBe(true);
    expect([quick.destroyed, listeners.size]).toEqual([false, 1]);
  });

  it('have as many readers as FEED_READERS_MAX', () => {
    const first = follow();
    follow();
    expect(() => follow()).toThrow(expect.objectContaining({ code: 'too_many_readers' }));
    first.destroy();
    follow();
    events.close();
    expect(listeners.size).toBe(0);
  });
});
