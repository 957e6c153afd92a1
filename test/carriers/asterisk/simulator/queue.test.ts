import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AsteriskQueue } from '../../../../src/carriers/asterisk/simulator/queue.ts';
import { FRAME_MS } from '../../../../src/foundation/units.ts';

const FOLDER = join(import.meta.dirname, '../../../../fixtures/calls/asterisk');
/** Of 22.10 and not of the queue: messages that are too large, fragments. */
const OTHERS = /^b(8|9)-/;

interface Line {
  readonly ms: number;
  readonly dir: string;
  readonly op: string;
  readonly size: number;
  readonly data: string;
}

function read(file: string): Line[] {
  return readFileSync(join(FOLDER, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** Queue lengths differ by the frame or two that the timers of the recording stood elsewhere. */
function comparable(text: string): string {
  return text.replace(/(queue_length"?:)\d+/, '$1n').trimEnd();
}

/**
 * What Asterisk's queue says to the app's side of a recording, with when it says it; its timer stands where it stood in
 * the recording.
 */
function replay(lines: readonly Line[]): { atMs: number; text: string }[] {
  const [start = ''] = lines.filter(({ dir, op }) => dir === 'ast>us' && op === 'text').map(({ data }) => data);
  const format = start.startsWith('{') ? 'json' : 'plain-text';
  const channelId = /channel_id"?:"?([\d.]+)/.exec(start)?.[1] ?? '';
  const frameBytes = Number(/optimal_frame_size"?:(\d+)/.exec(start)?.[1]);
  const media = start.includes('d(in)') ? 'dropped' : /\)p["/]/.test(start) ? 'passed' : 'queued';
  const queue = new AsteriskQueue({ frameBytes, format, channelId, media });
  const ticks = lines.filter(
    ({ dir, op, data }) => dir === 'ast>us' && op === 'text' && /MARK_PROCESSED|COMPLETED|DRAINED|XON/.test(data),
  );
  const said: { atMs: number; text: string }[] = [];
  let tickMs = ((ticks[0]?.ms ?? 0) % FRAME_MS) - 0.5;
  for (const { ms, dir, op, size, data } of lines) {
    for (; tickMs < (ms ?? 0); tickMs += FRAME_MS) for (const text of queue.tick()) said.push({ atMs: tickMs, text });
    if (dir !== 'us>ast' || (op !== 'bin' && op !== 'text')) continue;
    const answers = op === 'bin' ? queue.receiveAudio(new Uint8Array(size)) : queue.receiveText(data);
    for (const text of answers) said.push({ atMs: ms, text });
  }
  return said;
}

describe('the queue of the simulated Asterisk says what the real one said', () => {
  const files = readdirSync(FOLDER).filter((file) => /^(a7|b\d|u[12])/.test(file) && !OTHERS.test(file));

  it.each(files)('%s', (file) => {
    const all = read(file);
    // SET_MEDIA_DIRECTION is beyond it.
    const beyond = all.findIndex(({ data }) => data?.includes('SET_MEDIA_DIRECTION'));
    const lines = beyond < 0 ? all : all.slice(0, beyond);
    const expected = lines.filter(
      ({ dir, op, data }) => dir === 'ast>us' && op === 'text' && !data.includes('MEDIA_START'),
    );
    const said = replay(lines);
    expect(said.map(({ text }) => comparable(text)).sort()).toEqual(
      expected.map(({ data }) => comparable(data)).sort(),
    );
    for (const [index, { atMs, text }] of said.entries()) {
      const nearest = Math.min(
        ...expected.filter(({ data }) => comparable(data) === comparable(text)).map(({ ms }) => Math.abs(ms - atMs)),
      );
      expect(nearest, `${index}: ${text}`).toBeLessThan(3 * FRAME_MS);
    }
  });
});

describe('the queue of the simulated Asterisk', () => {
  const open = (): AsteriskQueue => new AsteriskQueue({ frameBytes: 160, format: 'plain-text', channelId: '1.1' });

  it('drops a message that comes to 1000 frames, whole and silently', () => {
    const queue = open();
    expect(queue.receiveAudio(new Uint8Array(160 * 1000))).toEqual(['MEDIA_XOFF']);
    expect(queue.receiveAudio(new Uint8Array(160))).toEqual([]);
    expect([queue.frames, [...queue.warnings]]).toEqual([
      1000,
      ['the queue was full: a whole message of sound was dropped'],
    ]);
  });

  it('passes on what comes where it does not queue', () => {
    const heard: number[] = [];
    const queue = new AsteriskQueue({ frameBytes: 160, format: 'plain-text', channelId: '1.1', media: 'passed' });
    expect(queue.receiveAudio(new Uint8Array(1600), (frame) => heard.push(frame.length))).toEqual([]);
    expect([heard, queue.frames, queue.receiveText('FLUSH_MEDIA')]).toEqual([
      [1600],
      0,
      ['ERROR channel_id:1.1 error_text:FLUSH_MEDIA not supported in passthrough mode'],
    ]);
  });

  it('knows no marks as the first releases have it, but the end of a buffering', () => {
    const queue = new AsteriskQueue({ frameBytes: 160, format: 'plain-text', channelId: '1.1', hasMarks: false });
    expect([queue.receiveText('MARK_MEDIA a'), queue.receiveText('STOP_MEDIA_BUFFERING b'), queue.tick()]).toEqual([
      [],
      [],
      ['MEDIA_BUFFERING_COMPLETED b'],
    ]);
    expect([...queue.warnings]).toEqual(['an unknown command was ignored']);
  });

  it('loses its marks when it is flushed', () => {
    const queue = open();
    queue.receiveAudio(new Uint8Array(320));
    queue.receiveText('MARK_MEDIA a');
    queue.receiveText('FLUSH_MEDIA');
    expect([queue.tick(), queue.tick(), queue.frames]).toEqual([[], [], 0]);
  });

  it('passes over what is too long or unknown, and says so to the test', () => {
    const queue = open();
    expect([queue.receiveText(`MARK_MEDIA ${'x'.repeat(118)}`), queue.receiveText('get_status')]).toEqual([[], []]);
    expect([...queue.warnings]).toEqual(['a command of 129 bytes was ignored', 'an unknown command was ignored']);
  });
});
