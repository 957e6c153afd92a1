/** Texts, recordings and pauses that are said as one utterance. */
import { describe, expect, it } from 'vitest';
import { TrunklineError } from '../../../src/foundation/errors.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { CHAR_MS, Speaking, turns } from '../speaking.ts';

const jingle = { samples: new Int16Array(16_000 / 2), rateHz: 16_000 };

describe('parts of an utterance', () => {
  it('sound one after the other, and are told as one', async () => {
    const call = new Speaking();
    const parts = [
      { kind: 'text', text: 'One two.' },
      { kind: 'pause', ms: 300 },
      { kind: 'recording', sound: jingle, text: 'Ding.' },
      { kind: 'text', text: 'Three four.' },
    ] as const;
    expect(call.voice.sayParts(parts)).toBe('u1');
    await call.run(3000);
    expect(call.story).toEqual([
      'speaking u1',
      'heard "One two. "',
      'heard "Ding. "',
      'heard "Three four."',
      'spoken u1 "One two. Ding. Three four."',
    ]);
    const wordsMs = ('One two.'.length + 'Three four.'.length) * CHAR_MS;
    expect(call.spoken[0]?.playedMs).toBe(call.player.heard.length * FRAME_MS);
    expect(call.spoken[0]?.playedMs).toBeGreaterThanOrEqual(wordsMs + 300 + 500);
    expect(call.clock.pending).toBe(0);
  });

  it('are cut off together, and what was heard of them is told', async () => {
    const call = new Speaking();
    call.voice.sayParts([
      { kind: 'recording', sound: jingle, text: 'Ding.' },
      { kind: 'text', text: 'One two three four.' },
    ]);
    await call.run(600);
    call.voice.interrupt();
    expect(call.story.at(-1)).toMatch(/^interrupted u1 "Ding\. ?.*"$/);
    await call.run(1000);
    expect(call.voice.speaking).toBe(false);
  });

  it('begin at once when they are in the cache', async () => {
    const call = new Speaking();
    call.voice.say('Hello there.');
    await call.run(1000);
    call.engine.speakMs = 5000;
    const { frames } = call;
    call.voice.sayParts([
      { kind: 'text', text: 'Hello there.' },
      { kind: 'pause', ms: 100 },
    ]);
    await turns();
    expect(call.frames).toBeGreaterThan(frames);
    expect(call.engine.spoken).toHaveLength(1);
  });

  it('are refused together, for a rate that no sound has', () => {
    const call = new Speaking();
    const sound = { samples: new Int16Array(8), rateHz: 1 };
    expect(() => call.voice.sayParts([{ kind: 'recording', sound, text: 'Ding.' }])).toThrow(TrunklineError);
    expect(call.voice.speaking).toBe(false);
  });
});
