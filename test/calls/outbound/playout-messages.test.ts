/** Playout to a carrier that wants several frames in each message. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Playout } from '../../../src/calls/outbound/playout.ts';
import { FRAME_MS, MULAW_8K, msToBytes } from '../../../src/foundation/units.ts';
import type { CarrierCommand } from '../../../src/protocols/dialect.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { BufferingPlayer } from '../../fakes/player.ts';

const FRAME_BYTES = msToBytes(FRAME_MS, MULAW_8K);
const FRAMES = 10;
const SILENCE = 0xff;

interface Sound {
  readonly bytes: Uint8Array;
}

/** A sound whose frames begin with their numbers, from `first` on. */
function sound(frames: number, first = 0): Sound {
  const bytes = new Uint8Array(frames * FRAME_BYTES);
  for (let n = 0; n < frames; n++) bytes.fill(first + n, n * FRAME_BYTES, (n + 1) * FRAME_BYTES);
  return { bytes };
}

function openLine() {
  const clock = new FakeClock();
  const sizes: number[] = [];
  const heard: { readonly sound: Sound; readonly atMs: number }[] = [];
  const player: BufferingPlayer = new BufferingPlayer({
    clock,
    frameMs: FRAME_MS,
    frameBytes: FRAME_BYTES,
    onMark: (name) => playout.onMark(name),
  });
  const playout: Playout<Sound> = new Playout<Sound>({
    codec: MULAW_8K,
    clock,
    buffered: true,
    leadMs: 400,
    framesPerMessage: FRAMES,
    send: (command: CarrierCommand) => {
      if (command.type === 'audio') sizes.push(command.bytes.length / FRAME_BYTES);
      player.send(command);
    },
    onBegun: () => undefined,
    onHeard: (each) => heard.push({ sound: each, atMs: clock.nowMs() }),
    onMarkLost: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  const push = (each: Sound): void => {
    const open = playout.open(each);
    open.add(each.bytes);
    open.end();
  };
  return { clock, sizes, heard, player, playout, push };
}

describe('playout in messages of several frames', () => {
  it('fills each sound up to whole messages with silence, and counts that as time', () => {
    const { clock, sizes, heard, player, push } = openLine();
    const [first, second] = [sound(13), sound(10, 50)];
    push(first);
    push(second);
    clock.advance(1000);
    expect(sizes).toEqual([10, 10, 10]);
    expect(player.heard).toEqual([
      ...Array.from({ length: 13 }, (_, n) => n),
      ...Array(7).fill(SILENCE),
      ...Array.from({ length: 10 }, (_, n) => 50 + n),
    ]);
    expect(heard).toEqual([
      { sound: first, atMs: 400 },
      { sound: second, atMs: 600 },
    ]);
  });

  it('never tells of more of a sound than there is of it', () => {
    const { clock, playout, push } = openLine();
    const only = sound(13);
    push(only);
    clock.advance(350);
    expect(playout.heardMs(only)).toBe(260);
  });

  it('resumes with the whole message in which it was paused', () => {
    const { clock, sizes, player, playout, push } = openLine();
    push(sound(30));
    clock.advance(310);
    playout.pause();
    expect(player.heard).toHaveLength(15);
    playout.resume();
    clock.advance(2000);
    expect(sizes.every((frames) => frames === FRAMES)).toBe(true);
    expect(player.heard.slice(15)).toEqual(Array.from({ length: 20 }, (_, n) => 10 + n));
  });

  it('begins the next sound at once after one that was cut off in the middle of a message', () => {
    const { clock, player, playout, push } = openLine();
    push(sound(30));
    clock.advance(310);
    playout.pause();
    playout.drop(() => true);
    playout.resume();
    const next = sound(20, 100);
    push(next);
    expect(playout.heardMs(next)).toBe(0);
    clock.advance(200);
    expect(playout.heardMs(next)).toBe(200);
    clock.advance(2000);
    expect(player.heard.slice(15)).toEqual(Array.from({ length: 20 }, (_, n) => 100 + n));
  });

  it('keeps its account true to what the caller heard, whatever is paused, resumed and thrown away', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('push' as const), frames: fc.integer({ min: 0, max: 40 }) }),
      fc.record({ do: fc.constant('wait' as const), frames: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const, 'drop' as const), frames: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const { clock, sizes, heard, player, playout, push } = openLine();
        for (const { do: action, frames } of steps) {
          if (action === 'push') push(sound(frames));
          if (action === 'wait') clock.advance(frames * FRAME_MS);
          if (action === 'pause') playout.pause();
          if (action === 'resume') playout.resume();
          if (action === 'drop') playout.drop(() => true);
        }
        playout.drop(() => true);
        playout.resume();
        player.heard.length = 0;
        heard.length = 0;
        const last = sound(25);
        push(last);
        clock.advance(200);
        expect(Math.abs(playout.heardMs(last) - player.heard.length * FRAME_MS)).toBeLessThanOrEqual(FRAME_MS);
        clock.advance(2000);
        expect(player.heard).toHaveLength(30);
        expect(heard.map((each) => each.sound)).toEqual([last]);
        expect(sizes.every((size) => size === FRAMES)).toBe(true);
      }),
    );
  });
});
