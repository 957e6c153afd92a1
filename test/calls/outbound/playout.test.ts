import { describe, expect, it } from 'vitest';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { FRAME_BYTES, Line, sound } from './playout-line.ts';

describe('playout to a carrier that buffers', () => {
  it('sends a lead at once, then as much as is played', () => {
    const line = new Line({ leadMs: 400 });
    line.push(sound('a', 100));
    expect(line.framesAtMs).toHaveLength(20);
    line.clock.advance(1000);
    expect(line.framesAtMs.length).toBeGreaterThanOrEqual(50 + 15);
    line.clock.advance(5000);
    expect(line.framesAtMs).toHaveLength(100);
    // One of them is being played.
    expect(line.player.deepest).toBeLessThanOrEqual(21);
    expect(line.player.heard).toHaveLength(100);
  });

  it('marks each sound behind its last frame, under a name of its own', () => {
    const line = new Line();
    line.push(sound('a', 3));
    line.push(sound('b', 2));
    line.clock.advance(1000);
    expect(line.sent.map(({ command }) => command.type)).toEqual([
      'audio',
      'audio',
      'audio',
      'mark',
      'audio',
      'audio',
      'mark',
    ]);
    expect(new Set(line.marks).size).toBe(2);
  });

  it('tells that a sound was heard when its mark comes back', () => {
    const line = new Line({ wayMs: 70 });
    line.push(sound('a', 5));
    line.push(sound('b', 5));
    line.clock.advance(1000);
    expect(line.log).toEqual(['begun a', 'begun b', 'heard a at 240', 'heard b at 340']);
  });

  it('plays sounds without a gap when the next one comes in time', () => {
    const line = new Line();
    line.push(sound('a', 30, 1));
    line.clock.advance(500);
    line.push(sound('b', 30, 2));
    const before = line.player.heard.length;
    line.clock.advance(500);
    expect(line.player.heard.length - before).toBe(25);
    line.clock.advance(500);
    expect(line.player.heard).toEqual([...Array(30).fill(1), ...Array(30).fill(2)]);
  });

  it('sends whole frames only', () => {
    const line = new Line();
    line.push(sound('a', 7));
    line.clock.advance(1000);
    const sizes = line.sent.flatMap(({ command }) => (command.type === 'audio' ? [command.bytes.length] : []));
    expect(sizes).toEqual(Array(7).fill(FRAME_BYTES));
  });

  it('waits for a mark that is late, then takes the clock for it', () => {
    const line = new Line({ losesMark: () => true });
    line.push(sound('a', 5));
    line.clock.advance(900);
    expect(line.log).toEqual(['begun a']);
    line.clock.advance(300);
    expect(line.log).toEqual(['begun a', 'mark lost', 'heard a at 1100']);
  });

  it('takes the next mark for the lost ones before it', () => {
    const line = new Line({ losesMark: (n) => n === 0 });
    line.push(sound('a', 5));
    line.push(sound('b', 5));
    line.clock.advance(300);
    expect(line.log).toEqual(['begun a', 'begun b', 'heard a at 200', 'heard b at 200']);
  });

  it('does not believe a mark before its sound can have been played', () => {
    const line = new Line();
    line.push(sound('a', 50));
    line.clock.advance(900);
    for (const name of line.marks) line.playout.onMark(name);
    expect(line.log).toEqual(['begun a']);
    line.clock.advance(100);
    expect(line.log).toEqual(['begun a', 'heard a at 1000']);
  });

  it('counts what was heard of the running sound by the clock, less the way of the marks', () => {
    const line = new Line({ wayMs: 50 });
    line.push(sound('a', 10));
    const second = sound('b', 50);
    line.push(second);
    line.clock.advance(500);
    // Both ways, though the sound takes only one of them: rather a word too few.
    expect(line.playout.heardMs(second)).toBe(200);
    expect(line.player.heard.length * FRAME_MS - 200).toBe(240);
  });

  it('tells of a sound without any frames when what stands before it was heard', () => {
    const line = new Line();
    line.push(sound('a', 5));
    line.push(sound('nothing', 0));
    line.clock.advance(90);
    expect(line.log).toEqual(['begun a']);
    line.clock.advance(20);
    expect(line.log).toEqual(['begun a', 'heard a at 100', 'heard nothing at 100']);
  });

  it('has room for two sounds that have not begun', async () => {
    const line = new Line({ leadMs: 100 });
    const rooms: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      line.push(sound(name, 50));
      void line.playout.room().then(() => rooms.push(name));
    }
    await Promise.resolve();
    expect(rooms).toEqual(['a', 'b']);
    line.clock.advance(1000);
    await Promise.resolve();
    await Promise.resolve();
    expect(rooms).toEqual(['a', 'b', 'c']);
  });
});

describe('playout to a carrier that takes each frame as it comes', () => {
  it('paces them by an absolute schedule, each when it is due', () => {
    const line = new Line({ buffered: false });
    line.clock.advance(13);
    line.push(sound('a', 100));
    line.clock.advance(5000);
    expect(line.framesAtMs).toEqual(Array.from({ length: 100 }, (_, n) => 13 + n * FRAME_MS));
    expect(line.marks).toEqual([]);
    expect(line.log).toEqual(['begun a', 'heard a at 2013']);
  });

  it('does not drift when timers are late', () => {
    const late = new Line({ buffered: false });
    late.push(sound('a', 500));
    // A clock that is looked at every 27 ms fires what was due in between late.
    for (let ms = 0; ms < 9990; ms += 27) {
      late.clock.stall(27);
    }
    expect(late.framesAtMs.length).toBe(500);
  });

  it('goes on after a long hold-up without sending what was missed in a burst', () => {
    const line = new Line({ buffered: false });
    line.push(sound('a', 100));
    line.clock.advance(190);
    expect(line.framesAtMs).toHaveLength(10);
    line.clock.stall(2000);
    expect(line.framesAtMs.length).toBeLessThanOrEqual(10 + 6);
    line.clock.advance(5000);
    expect(line.framesAtMs).toHaveLength(100);
  });

  it('pauses by sending nothing', () => {
    const line = new Line({ buffered: false });
    line.push(sound('a', 100));
    line.clock.advance(500);
    line.playout.pause();
    const before = line.framesAtMs.length;
    line.clock.advance(3000);
    expect(line.framesAtMs).toHaveLength(before);
    expect(line.clock.pending).toBe(0);
    line.playout.resume();
    line.clock.advance(3000);
    expect(line.framesAtMs).toHaveLength(100);
    expect(line.sent.every(({ command }) => command.type === 'audio')).toBe(true);
  });
});

describe('a pause on a carrier that buffers', () => {
  it('clears it at once and resumes with the first frame that was not heard', () => {
    const line = new Line();
    const whole = sound('a', 60);
    whole.bytes.forEach((_, at) => {
      whole.bytes[at] = Math.floor(at / FRAME_BYTES);
    });
    line.push(whole);
    line.clock.advance(510);
    line.playout.pause();
    expect(line.player.clears).toBe(1);
    expect(line.player.heard).toHaveLength(25);
    line.clock.advance(700);
    line.playout.resume();
    line.clock.advance(2000);
    expect(line.player.heard).toEqual(Array.from({ length: 60 }, (_, n) => n));
    expect(line.log).toEqual(['begun a', 'heard a at 1910']);
  });

  it('does not take the marks that come back after a clear for heard', () => {
    const line = new Line({ wayMs: 30 });
    line.push(sound('a', 5));
    line.push(sound('b', 5));
    line.clock.advance(60);
    line.playout.pause();
    line.clock.advance(1000);
    expect(line.log).toEqual(['begun a', 'begun b']);
    line.playout.resume();
    line.clock.advance(1000);
    expect(line.log.slice(2).map((entry) => entry.split(' at ')[0])).toEqual(['heard a', 'heard b']);
    expect(new Set(line.marks).size).toBe(4);
  });

  it('goes by the clock when a mark crosses the clear on the wire', () => {
    const line = new Line({ wayMs: 100 });
    line.push(sound('first', 5));
    line.clock.advance(500);
    const crossing = sound('a', 10);
    line.push(crossing);
    line.push(sound('b', 50));
    // The carrier has played all of it, and its mark is on its way.
    line.clock.advance(350);
    line.playout.pause();
    expect(line.playout.heardMs(crossing)).toBe(140);
    line.clock.advance(500);
    expect(line.log.filter((entry) => entry.startsWith('heard'))).toEqual(['heard first at 300']);
  });

  it('keeps what is queued meanwhile waiting', () => {
    const line = new Line();
    line.push(sound('a', 5));
    line.playout.pause();
    const before = line.sent.length;
    line.push(sound('b', 5));
    line.clock.advance(1000);
    expect(line.sent).toHaveLength(before);
    line.playout.resume();
    line.clock.advance(1000);
    expect(line.player.heard).toHaveLength(10);
  });
});

describe('dropping sounds', () => {
  it('clears the carrier and leaves no timer', () => {
    const line = new Line();
    line.push(sound('a', 500));
    line.push(sound('b', 500));
    line.clock.advance(3000);
    line.playout.drop(() => true);
    expect(line.player.clears).toBe(1);
    expect(line.playout.idle).toBe(true);
    line.clock.advance(20);
    expect(line.clock.pending).toBe(0);
    expect(line.player.heard).toHaveLength(150);
  });

  it('keeps what stands before, even when some of what goes is with the carrier', () => {
    const line = new Line({ leadMs: 1000 });
    line.push(sound('a', 20, 1));
    line.push(sound('b', 20, 2));
    line.clock.advance(100);
    line.playout.drop(({ name }) => name === 'b');
    line.push(sound('c', 5, 3));
    line.clock.advance(2000);
    expect(line.player.heard).toEqual([...Array(20).fill(1), ...Array(5).fill(3)]);
    expect(line.log).toEqual(['begun a', 'begun b', 'begun c', 'heard a at 400', 'heard c at 500']);
  });

  it('does not disturb the carrier when it has nothing of what goes', () => {
    const line = new Line({ leadMs: 100 });
    line.push(sound('a', 50));
    line.push(sound('b', 50));
    line.playout.drop(({ name }) => name === 'b');
    expect(line.player.clears).toBe(0);
  });

  it('frees whoever waits for room', async () => {
    const line = new Line({ leadMs: 100 });
    for (const name of ['a', 'b', 'c']) line.push(sound(name, 50));
    let free = false;
    void line.playout.room().then(() => {
      free = true;
    });
    line.playout.drop(() => true);
    await Promise.resolve();
    expect(free).toBe(true);
  });
});

describe('closing', () => {
  it('leaves no timer and nobody waiting, at any time', async () => {
    for (const ms of [0, 100, 1000, 3000]) {
      const line = new Line({ buffered: false });
      for (const name of ['a', 'b', 'c']) line.push(sound(name, 50));
      const waiting = line.playout.room();
      line.clock.advance(ms);
      line.playout.close();
      expect(line.clock.pending).toBe(0);
      await waiting;
    }
  });
});
