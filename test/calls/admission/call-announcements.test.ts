import { describe, expect, it } from 'vitest';
import { CallAnnouncements } from '../../../src/calls/admission/call-announcements.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import type { CallStart } from '../../../src/protocols/dialect.ts';
import { FakeClock } from '../../fakes/clock.ts';

const startOf = (callId: string): CallStart => ({
  carrier: 'audiosocket',
  callId,
  streamId: 's',
  from: null,
  to: null,
  tracks: ['inbound'],
  codec: MULAW_8K,
  playback: 'paced',
  parameters: { own: 'yes' },
});
const announcement = (from: string) => ({ from, to: null, parameters: { bargeIn: 'off' } });

describe('AnnouncedCalls', () => {
  it('completes a start once, and leaves others as they are', () => {
    const announced = new CallAnnouncements({ clock: new FakeClock() });
    announced.announce('a', announcement('1'));
    expect(announced.complete(startOf('b'))).toEqual(startOf('b'));
    expect(announced.complete(startOf('a'))).toEqual({
      ...startOf('a'),
      from: '1',
      parameters: { own: 'yes', bargeIn: 'off' },
    });
    expect(announced.complete(startOf('a'))).toEqual(startOf('a'));
  });

  it('believes the later word', async () => {
    const announced = new CallAnnouncements({ clock: new FakeClock() });
    for (const from of ['1', '2']) announced.announce('a', announcement(from));
    expect((await announced.complete(startOf('a'))).from).toBe('2');
  });

  it('forgets after ten minutes, and the oldest of more than two thousand', async () => {
    const clock = new FakeClock();
    const announced = new CallAnnouncements({ clock });
    for (let index = 0; index <= 2000; index++) announced.announce(String(index), announcement('1'));
    expect([(await announced.complete(startOf('0'))).from, (await announced.complete(startOf('1'))).from]).toEqual([
      null,
      '1',
    ]);
    clock.advance(600_000);
    expect((await announced.complete(startOf('2'))).from).toBeNull();
    expect(clock.pending).toBe(0);
  });
});
