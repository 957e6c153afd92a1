import { EventEmitter } from 'node:events';
import type { FastifyReply } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BatchView, FileView } from '../../../src/jobs/batch.ts';
import type { BatchNews, BatchService } from '../../../src/jobs/batch-service.ts';
import { BatchEvents } from '../../../src/jobs/routes/events.ts';
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

const FILE: FileView = { number: 0, name: 'a', state: 'done', progress: 1, durationMs: 1, error: null };

let clock: FakeClock;
let batch: Pick<BatchView, 'id' | 'state'>;
let listeners: Set<(news: BatchNews) => void>;
let events: BatchEvents;
/** Called while the batch is looked up. */
let onLook: () => void;

beforeEach(() => {
  clock = new FakeClock();
  listeners = new Set();
  onLook = () => undefined;
  batch = { id: 'b', state: 'running' };
  const batches = {
    get: async () => {
      const found = { batch: { ...batch }, files: [FILE] };
      onLook();
      return found;
    },
    watch: async (_id: string, listener: (news: BatchNews) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  } as unknown as BatchService;
  events = new BatchEvents({ batches, clock, settings: { FEED_READERS_MAX: 2, SEND_BUFFER_MAX_BYTES: 1000 } });
});

function tell(news: BatchNews): void {
  for (const listener of listeners) listener(news);
}

function tellEnd(): void {
  batch = { ...batch, state: 'done' };
  tell({ type: 'end', batch: batch as BatchView });
}

async function follow(): Promise<Connection> {
  const raw = new Connection();
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
  await events.stream('', 'b', reply);
  return raw;
}

describe('the events of a batch', () => {
  it('tell how it is, what happens, and how it has ended', async () => {
    const reader = await follow();
    tell({ type: 'progress', file: FILE });
    tell({ type: 'file', file: FILE });
    tellEnd();
    expect(reader.text.match(/^event: .*\ndata: .*$/gm)).toEqual([
      'event: batch\ndata: {"id":"b","state":"running"}',
      `event: progress\ndata: ${JSON.stringify(FILE)}`,
      `event: file\ndata: ${JSON.stringify(FILE)}`,
      'event: end\ndata: {"id":"b","state":"done"}',
    ]);
    expect([reader.ended, listeners.size]).toEqual([true, 0]);
    expect(await follow()).toMatchObject({ text: 'event: end\ndata: {"id":"b","state":"done"}\n\n', ended: true });
  });

  it('do not miss what happens while the batch is looked up', async () => {
    onLook = tellEnd;
    const reader = await follow();
    expect(reader.text.match(/^event: .*$/gm)).toEqual(['event: batch', 'event: end']);
    expect([reader.ended, listeners.size]).toEqual([true, 0]);
  });

  it('keep a silent connection alive, and no longer than it is there', async () => {
    const reader = await follow();
    const before = reader.text;
    clock.advance(45_000);
    expect(reader.text.slice(before.length)).toBe(':\n\n'.repeat(3));
    reader.destroy();
    clock.advance(45_000);
    expect([reader.text.slice(before.length), listeners.size]).toEqual([':\n\n'.repeat(3), 0]);
  });

  it('cut off a reader that does not read, and no other', async () => {
    const [slow, quick] = [await follow(), await follow()];
    slow.reads = false;
    for (let told = 0; told < 9; told++) tell({ type: 'file', file: FILE });
    expect(slow.destroyed).toBe(false);
    for (let told = 0; told < 25; told++) tell({ type: 'file', file: FILE });
    expect(slow.destroyed).toBe(true);
    expect([quick.destroyed, listeners.size]).toEqual([false, 1]);
  });

  it('have as many readers as FEED_READERS_MAX', async () => {
    const first = await follow();
    await follow();
    await expect(follow()).rejects.toEqual(expect.objectContaining({ code: 'too_many_readers' }));
    first.destroy();
    await follow();
    events.close();
    expect(listeners.size).toBe(0);
  });
});
