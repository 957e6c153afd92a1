import { describe, expect, it } from 'vitest';
import { LogOutput } from '../../../src/foundation/log/log-output.ts';
import { FakeClock } from '../../fakes/clock.ts';

const MORE_THAN_WAITS = 1100;
/** A line of 1 KiB. */
const long = (name: string) => `${name.padEnd(1023, '.')}\n`;

/** An output to a disk or pipe that takes `room` bytes, then says `code`. */
function open() {
  const disk = { text: '', room: Number.POSITIVE_INFINITY, code: 'ENOSPC' };
  const clock = new FakeClock();
  const gaps: number[] = [];
  let pauses = 0;
  const write = (bytes: Uint8Array): number => {
    if (disk.room === 0) throw Object.assign(new Error(disk.code), { code: disk.code });
    const taken = bytes.subarray(0, disk.room);
    disk.text += Buffer.from(taken).toString('utf8');
    disk.room -= taken.length;
    return taken.length;
  };
  const output: LogOutput = new LogOutput({
    write,
    clock,
    onLost: (lines) => {
      gaps.push(lines);
      output.write(`lost ${lines}\n`);
    },
    pause: () => {
      pauses++;
      if (pauses === 3) disk.room = 8;
    },
  });
  return { output, disk, clock, gaps, pauses: () => pauses };
}

describe('the output of the log', () => {
  it('writes a line at once', () => {
    const { output, disk, clock } = open();
    output.write('one\n');
    expect([disk.text, clock.pending]).toEqual(['one\n', 0]);
  });

  it('keeps what a full disk does not take, counts the failure, and writes it in order when there is room', () => {
    const { output, disk, clock } = open();
    disk.room = 0;
    output.write('one\n');
    output.write('two\n');
    expect(clock.pending).toBe(1);
    expect([...output.trouble.errors]).toEqual([['ENOSPC', 1]]);
    disk.room = 100;
    clock.advance(1000);
    output.write('three\n');
    expect([disk.text, clock.pending, output.trouble.linesLost]).toEqual(['one\ntwo\nthree\n', 0, 0]);
  });

  it('ends a line that was written in part before the next', () => {
    const { output, disk, clock } = open();
    disk.room = 2;
    output.write('one\n');
    output.write('two\n');
    expect(disk.text).toBe('on');
    disk.room = 3;
    clock.advance(1000);
    expect(disk.text).toBe('one\nt');
    disk.room = 100;
    clock.advance(1000);
    expect(disk.text).toBe('one\ntwo\n');
  });

  it('loses and counts what is too much to wait, in one gap, and says at its place how long that is', () => {
    const { output, disk, clock, gaps } = open();
    disk.room = 0;
    for (let i = 0; i < MORE_THAN_WAITS; i++) output.write(long(`line ${i}`));
    const kept = 1024;
    expect(output.trouble.linesLost).toBe(MORE_THAN_WAITS - kept);
    disk.room = 512 * 1024;
    clock.advance(1000);
    output.write('lost as well, for all before it have not been written\n');
    disk.room = Number.POSITIVE_INFINITY;
    clock.advance(1000);
    output.write('after\n');
    const lost = MORE_THAN_WAITS - kept + 1;
    expect(gaps).toEqual([lost]);
    const lines = disk.text.trimEnd().split('\n');
    expect(lines.slice(kept - 1)).toEqual([expect.stringMatching(`^line ${kept - 1}\\.`), `lost ${lost}`, 'after']);
    expect(output.trouble.linesLost).toBe(lost);
  });

  it('takes a slow reader for no failure, and asks less and less often while he does not read', () => {
    const { output, disk, clock } = open();
    Object.assign(disk, { room: 0, code: 'EAGAIN' });
    let asked = 0;
    output.write('one\n');
    Object.defineProperty(disk, 'room', {
      get: () => {
        asked++;
        return 0;
      },
    });
    clock.advance(60_000);
    expect(output.trouble.errors.size).toBe(0);
    expect(asked).toBeGreaterThan(55);
    expect(asked).toBeLessThan(70);
  });

  it('waits for a slow reader at the end of the process, but not for ever', () => {
    const { output, disk, pauses } = open();
    Object.assign(disk, { room: 0, code: 'EAGAIN' });
    output.write('one\n');
    output.write('two\nthree\n');
    output.flushSync();
    expect(disk.text).toBe('one\ntwo\n');
    expect(pauses()).toBe(50);
  });

  it('does not wait for a disk that is full', () => {
    const { output, disk, pauses } = open();
    disk.room = 0;
    output.write('one\n');
    output.flushSync();
    expect(pauses()).toBe(0);
  });
});
