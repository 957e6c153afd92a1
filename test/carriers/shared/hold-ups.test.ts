/**
 * What becomes of a call's sound when the whole process is held up for a moment, on the lines that play each frame as
 * it comes.
 */
import { describe, expect, it } from 'vitest';
import { RtpSender } from '../../../src/carriers/sip/rtp/sender.ts';
import { parseRtp } from '../../../src/carriers/sip/wire/rtp/packet.ts';
import { FRAME_MS, MULAW_8K } from '../../../src/foundation/units.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { audioSocketCall, holdUp, LOUD, startPlayout } from '../../helpers/paced-call.ts';
import { remoteMedia } from '../sip/rtp/media.ts';

const QUIET = 0xff;

describe('AudioSocket', () => {
  it.each([30, 50, 65, 75])('bears hold-ups of %i ms: Asterisk plays no gap in silence, none in sound', (ms) => {
    for (const everyMs of [ms, 113, 500]) {
      const silent = audioSocketCall();
      holdUp(silent.clock, ms, everyMs);
      const spoken = audioSocketCall();
      spoken.speak(12_000);
      holdUp(spoken.clock, ms, everyMs);
      expect([silent.gapsMs, spoken.gapsMs]).toEqual([[], []]);
    }
  });

  it('bears hold-ups of 55 ms where sound ends, too', () => {
    const { clock, speak, gapsMs } = audioSocketCall();
    for (let sentence = 0; sentence < 20; sentence++) {
      speak(500 + 20 * sentence);
      for (let atMs = 0; atMs < 1500; atMs += 68) {
        clock.stall(55);
        clock.advance(13);
      }
    }
    expect(gapsMs).toEqual([]);
  });

  it('has the gap of the hold-up and no other when it lasts longer', () => {
    for (const ms of [90, 130, 200, 500]) {
      const { clock, speak, gapsMs } = audioSocketCall();
      speak(3000);
      clock.advance(1010);
      clock.stall(ms);
      clock.advance(5000);
      expect(gapsMs).toHaveLength(1);
      expect(gapsMs[0]).toBeLessThanOrEqual(ms);
    }
  });

  it('does not fill the phone up, one long hold-up after the other, and lets it empty in the silence that follows', () => {
    const { clock, speak, aheadMs, gapsMs } = audioSocketCall();
    speak(5000);
    for (let holdUps = 0; holdUps < 4; holdUps++) {
      clock.advance(813);
      clock.stall(170);
    }
    expect(aheadMs()).toBeLessThanOrEqual(5 * FRAME_MS);
    clock.advance(4000);
    expect(aheadMs()).toBeLessThanOrEqual(FRAME_MS);
    expect(gapsMs).toHaveLength(4);
  });

  it('has no silence in the middle of sound after a hold-up', () => {
    for (const ms of [30, 65, 79, 85, 99, 150]) {
      const { clock, speak, frames } = audioSocketCall();
      clock.advance(107);
      speak(3000);
      clock.advance(1011);
      clock.stall(ms);
      clock.advance(5000);
      const [first, last] = [frames.findIndex(({ loud }) => loud), frames.findLastIndex(({ loud }) => loud)];
      expect(frames.slice(first, last).filter(({ loud }) => !loud).length).toBeLessThanOrEqual(1);
    }
  });
});

describe('SIP', () => {
  it('has no silent packet in the middle of sound once a long hold-up is over', () => {
    for (const ms of [130, 150, 170, 410]) {
      for (const phaseMs of [0, 3, 7, 11, 19]) {
        const clock = new FakeClock();
        const loud: boolean[] = [];
        const transmit = (datagram: Uint8Array): void =>
          void loud.push((parseRtp(datagram)?.payload[0] ?? QUIET) === LOUD);
        const sender = new RtpSender({ clock, codec: MULAW_8K, random: () => 0.5, transmit });
        sender.remote = remoteMedia();
        const speak = startPlayout(clock, (bytes) => sender.send(bytes));
        clock.advance(100 + phaseMs);
        speak(2000);
        clock.advance(1000);
        clock.stall(ms);
        clock.advance(3000);
        expect(loud.slice(loud.indexOf(true), loud.lastIndexOf(true)).filter((each) => !each)).toEqual([]);
      }
    }
  });
});
