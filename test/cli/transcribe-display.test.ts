import { describe, expect, it } from 'vitest';
import { Output } from '../../src/cli/terminal.ts';
import { Display, describeTally } from '../../src/cli/transcribe-display.ts';
import type { Batch, BatchFile } from '../../src/jobs/batch.ts';
import { FakeClock } from '../fakes/clock.ts';
import { TextStream } from '../helpers/terminal.ts';

const file = (number: number, name: string, state: BatchFile['state'] = 'waiting'): BatchFile => ({
  number,
  name,
  state,
  durationMs: null,
  error: null,
  source: { kind: 'file', location: name, stamp: '' },
});

function open(files: BatchFile[], isTTY: boolean, shares: Record<string, number> = {}) {
  const clock = new FakeClock();
  const err = new TextStream({ isTTY });
  const run: Batch = {
    id: 'r',
    tenant: '',
    createdMs: 0,
    channels: 'mix',
    targetLanguage: '',
    idempotency: null,
    webhook: null,
    state: 'running',
    endedMs: null,
    files,
  };
  const display = new Display({
    terminal: { out: new Output(new TextStream()), err: new Output(err) },
    clock,
    run,
    bytesOf: () => 100,
    nameOf: ({ name }) => name,
    shareOf: ({ name }) => shares[name] ?? null,
  });
  return { clock, err, display, shares };
}

describe('the display of a run', () => {
  it('is a bar over all files, and a line for each in work, on a terminal', () => {
    const { clock, err, shares } = open([file(0, 'a.wav'), file(1, 'b.wav')], true);
    shares['a.wav'] = 0.5;
    clock.advance(10_000);
    expect(err.text.split('[J').at(-1)).toBe(
      '  50 %  a.wav\n[######..................] 25 %  0/2 files  0.0 × real time  about 30 s left\n',
    );
  });

  it('is a line for each file that is done where nobody watches, and now and then one for what is in work', () => {
    const files = [file(0, 'a.wav'), file(1, 'b.wav'), file(2, 'c.wav', 'done')];
    const { clock, err, display } = open(files, false, { 'b.wav': 0.25 });
    clock.advance(1000);
    Object.assign(files[0] ?? {}, { state: 'done', durationMs: 61_000 });
    display.settled(files[0] ?? file(0, ''));
    clock.advance(29_000);
    expect(err.text).toBe('2/3  a.wav  1 min 1 s  61.0 × real time\n2/3  b.wav  25 %\n');
    expect(display.tally()).toEqual({ done: 1, failed: 0, skipped: 1, audioMs: 61_000, elapsedMs: 30_000 });
  });

  it('shows no control characters of a name', () => {
    const failed = {
      ...file(0, 'a\u001b[2J.wav'),
      error: { code: 'audio_unreadable' as const, message: 'it is\nnot' },
    };
    const { err, display } = open([failed], false);
    display.settled(failed);
    expect(err.text).toBe('trunkline: a?[2J.wav: it is?not\n');
  });

  it('sums up', () => {
    const tally = { done: 3, failed: 1, skipped: 2, audioMs: 7_260_000, elapsedMs: 240_000 };
    expect(describeTally(tally)).toBe(
      '3 done, 1 failed, 2 existed already: 2 h 1 min of audio in 4 min 0 s, 30.3 × real time',
    );
    expect(describeTally({ ...tally, done: 0, failed: 0 })).toBe('0 done, 2 existed already');
  });
});
