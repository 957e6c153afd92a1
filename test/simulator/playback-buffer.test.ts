import { describe, expect, it } from 'vitest';
import { MULAW_8K } from '../../src/foundation/units.ts';
import { PlaybackBuffer } from '../../src/simulator/playback-buffer.ts';

describe("Twilio's playback buffer", () => {
  it('tells a mark when the audio before it has been played, at 8 bytes a millisecond', () => {
    const playout = new PlaybackBuffer(MULAW_8K);
    playout.append(800);
    expect(playout.mark('hello said')).toEqual([]);
    expect(playout.advance(99)).toEqual([]);
    expect(playout.advance(1)).toEqual(['hello said']);
  });

  it('tells a mark at once when nothing is left to play before it', () => {
    const playout = new PlaybackBuffer(MULAW_8K);
    expect(playout.mark('first')).toEqual(['first']);
    playout.append(160);
    playout.advance(1000);
    expect(playout.mark('second')).toEqual(['second']);
  });

  it('does not save up silence: audio that comes after a pause is played from its beginning', () => {
    const playout = new PlaybackBuffer(MULAW_8K);
    playout.advance(5000);
    playout.append(160);
    playout.mark('end');
    expect(playout.advance(19)).toEqual([]);
    expect(playout.advance(1)).toEqual(['end']);
  });

  it('tells every pending mark in order when it is cleared, and goes on empty', () => {
    const playout = new PlaybackBuffer(MULAW_8K);
    playout.append(8000);
    playout.mark('one');
    playout.append(8000);
    playout.mark('two');
    playout.advance(500);
    expect(playout.clear()).toEqual(['one', 'two']);
    expect(playout.clear()).toEqual([]);
    playout.append(80);
    playout.mark('three');
    expect(playout.advance(10)).toEqual(['three']);
  });
});
