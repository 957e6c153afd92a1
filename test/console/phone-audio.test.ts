/**
 * The page's own arithmetic of sound, against the gateway's. It is JavaScript for the browser, so its types stop at
 * this file's door.
 */
import { describe, expect, it } from 'vitest';
import { decodeG711, encodeG711 } from '../../src/audio/g711.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { MULAW_8K } from '../../src/foundation/units.ts';

interface PhoneAudio {
  encodeMulaw(sample: number): number;
  decodeMulaw(byte: number): number;
  Resampler: new (fromHz: number, toHz: number) => { push(sample: number, emit: (sample: number) => void): void };
  Player: new (
    onMark: (name: string) => void,
  ) => {
    add(bytes: Uint8Array): boolean;
    mark(name: string): void;
    clear(): void;
    next(): number;
    readonly playing: boolean;
  };
}

const { encodeMulaw, decodeMulaw, Resampler, Player } = (await import(
  packagePath('src', 'console', 'page', 'phone-audio.js')
)) as PhoneAudio;

const LINE_HZ = MULAW_8K.rateHz;
const CARDS_HZ = [16_000, 44_100, 48_000, 96_000];

describe('µ-law in the page', () => {
  it('decodes every byte as the gateway does', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_unused, byte) => byte);
    expect(Int16Array.from(bytes, (byte) => decodeMulaw(byte) * 32_768)).toEqual(decodeG711(bytes, MULAW_8K));
  });

  it('gives every sample a byte that is as near to it as the gateway’s', () => {
    const samples = Int16Array.from({ length: 65_536 }, (_unused, bits) => bits - 32_768);
    const theirs = decodeG711(encodeG711(samples, MULAW_8K), MULAW_8K);
    const worse = samples.filter((sample, at) => {
      const ours = decodeMulaw(encodeMulaw(sample / 32_768)) * 32_768;
      return Math.abs(ours - sample) > Math.abs((theirs[at] ?? 0) - sample);
    });
    expect([...worse]).toEqual([]);
  });

  it('clips what is too loud instead of wrapping it around', () => {
    expect([encodeMulaw(1.7), encodeMulaw(-1.7)]).toEqual([0x80, 0x00]);
    expect(encodeMulaw(0)).toBe(0xff);
  });
});

describe('resampling in the page', () => {
  /** Level of a tone of `frequencyHz` after the conversion, relative to before, in dB. */
  function gainDb(frequencyHz: number, fromHz: number, toHz: number): number {
    const resampler = new Resampler(fromHz, toHz);
    const output: number[] = [];
    for (let at = 0; at < fromHz / 2; at++) {
      resampler.push(Math.sin((2 * Math.PI * frequencyHz * at) / fromHz), (sample) => output.push(sample));
    }
    const settled = output.slice(output.length / 4);
    const power = settled.reduce((sum, sample) => sum + sample * sample, 0) / settled.length;
    return 10 * Math.log10(2 * power);
  }

  it.each(CARDS_HZ)('keeps the telephone band and lets nothing fold into it, from %i Hz', (cardHz) => {
    for (const frequencyHz of [300, 1000, 3400])
      expect(Math.abs(gainDb(frequencyHz, cardHz, LINE_HZ))).toBeLessThan(0.2);
    for (const frequencyHz of [4000, 5000, 7000]) expect(gainDb(frequencyHz, cardHz, LINE_HZ)).toBeLessThan(-55);
  });

  it.each(CARDS_HZ)('adds no images above the line’s band, to %i Hz', (cardHz) => {
    const resampler = new Resampler(LINE_HZ, cardHz);
    const frequencyHz = 3000;
    const output: number[] = [];
    for (let at = 0; at < LINE_HZ / 2; at++) {
      resampler.push(Math.sin((2 * Math.PI * frequencyHz * at) / LINE_HZ), (sample) => output.push(sample));
    }
    const settled = output.slice(output.length / 4, (output.length * 3) / 4);
    const level = (hz: number) => {
      const turn = (2 * Math.PI * hz) / cardHz;
      const cos = settled.reduce((sum, sample, at) => sum + sample * Math.cos(turn * at), 0);
      const sin = settled.reduce((sum, sample, at) => sum + sample * Math.sin(turn * at), 0);
      return 20 * Math.log10((2 * Math.hypot(cos, sin)) / settled.length);
    };
    expect(level(frequencyHz)).toBeCloseTo(0, 1);
    expect(level(LINE_HZ - frequencyHz)).toBeLessThan(-50);
  });

  it.each(CARDS_HZ)('gives exactly as much sound as there was, from and to %i Hz', (cardHz) => {
    for (const [fromHz, toHz] of [
      [cardHz, LINE_HZ],
      [LINE_HZ, cardHz],
    ] as const) {
      let emitted = 0;
      const resampler = new Resampler(fromHz, toHz);
      for (let at = 0; at < fromHz; at++) resampler.push(0, () => emitted++);
      expect(emitted).toBe(toHz);
    }
  });
});

describe('playing what the bridge sent', () => {
  const LOUD = encodeMulaw(0.5);
  const frame = (length = LINE_HZ / 50) => new Uint8Array(length).fill(LOUD);

  function open() {
    const marks: string[] = [];
    const player = new Player((name) => marks.push(name));
    const play = (samples: number) => Array.from({ length: samples }, () => player.next());
    return { player, marks, play };
  }

  it('waits a moment after a pause, then plays everything in one piece', () => {
    const { player, play } = open();
    player.add(frame());
    const waited = play(LINE_HZ * 0.06);
    expect([Math.max(...waited), player.playing]).toEqual([0, false]);
    player.add(frame());
    const heard = play(2 * frame().length);
    expect([Math.min(...heard), player.playing]).toEqual([decodeMulaw(LOUD), true]);
    play(1);
    expect(player.playing).toBe(false);
  });

  it('returns a mark when all before it was played, not earlier', () => {
    const { player, marks, play } = open();
    player.add(frame(100));
    player.mark('first');
    player.add(frame(50));
    player.mark('second');
    play(LINE_HZ * 0.06 + 99);
    expect(marks).toEqual([]);
    play(1);
    expect(marks).toEqual(['first']);
    play(50);
    expect(marks).toEqual(['first', 'second']);
  });

  it('returns a mark at once when nothing is before it', () => {
    const { player, marks } = open();
    player.mark('now');
    expect(marks).toEqual(['now']);
  });

  it('plays nothing more after a clear, and returns the marks in their order', () => {
    const { player, marks, play } = open();
    player.add(frame());
    player.mark('a');
    player.add(frame());
    player.mark('b');
    play(LINE_HZ * 0.06 + 10);
    player.clear();
    expect(marks).toEqual(['a', 'b']);
    const fading = play(100);
    expect(fading.every((sample, at) => at === 0 || sample < (fading[at - 1] ?? 0))).toBe(true);
    expect(fading.at(-1)).toBeLessThan(0.001);
    expect(player.playing).toBe(false);
    player.add(frame());
    expect(Math.max(...play(LINE_HZ * 0.06 + 1))).toBe(decodeMulaw(LOUD));
  });

  it('takes a minute of waiting sound and no more', () => {
    const { player } = open();
    expect(player.add(frame(LINE_HZ * 60))).toBe(true);
    expect(player.add(frame(1))).toBe(false);
    player.clear();
    expect(player.add(frame(1))).toBe(true);
  });
});
