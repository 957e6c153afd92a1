import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import type { Playback } from '../../../src/protocols/dialect.ts';
import { CHAR_MS, Speaking, turns } from '../speaking.ts';

const TEXT = 'One two three four. Five six seven eight nine. Ten eleven twelve.';

describe('an interruption', () => {
  it('falls silent at once, tells what was heard and throws the queue away', async () => {
    const call = new Speaking();
    call.voice.say(TEXT);
    call.voice.say('Never begun.');
    await call.run(600);
    const heard = call.voice.interrupt();
    expect(call.clears).toBe(1);
    expect(heard).toEqual({ utterance: 'u1', text: TEXT, heardText: 'One two three four. Five six', playedMs: 600 });
    expect(call.story.slice(-2)).toEqual(['interrupted u1 "One two three four. Five six"', 'interrupted u2 ""']);
    const { frames } = call;
    await call.run(3000);
    expect(call.frames).toBe(frames);
    expect(call.player.heard.length * FRAME_MS).toBe(600);
  });

  it('that begins as the last word ends leaves nobody mute', async () => {
    // The last mark is on its way when the caller begins to speak.
    const call = new Speaking({ wayMs: 100 });
    call.voice.say('Yes or no?');
    await call.run('Yes or no?'.length * CHAR_MS + 50);
    call.voice.onCallerSpeech('started');
    expect(call.story.at(-1)).toBe('spoken u1 "Yes or no?"');
    call.voice.onCallerSpeech('stopped');
    call.voice.say('I see.');
    await call.run(3000);
    expect(call.story.at(-1)).toBe('spoken u2 "I see."');
  });

  it('is nothing when nothing is said', () => {
    const call = new Speaking();
    expect(call.voice.interrupt()).toBeNull();
    expect(call.sent).toEqual([]);
  });

  it('ends the work of the engine, whose late answer lands nowhere', async () => {
    const call = new Speaking();
    call.engine.speakMs = 500;
    call.voice.say(TEXT);
    await call.run(100);
    expect(call.engine.pending).toBe(1);
    call.voice.interrupt();
    await turns();
    expect(call.engine.pending).toBe(0);
    call.engine.speakMs = 0;
    call.voice.say('New text.');
    await call.run(2000);
    expect(call.story).toEqual(['interrupted u1 ""', 'speaking u2', 'heard "New text."', 'spoken u2 "New text."']);
  });

  const carriers: readonly [string, ConstructorParameters<typeof Speaking>[0]][] = [
    ['buffers', {}],
    ['is far away', { wayMs: 120 }],
    ['loses every mark', { losesMark: () => true }],
    ['loses every other mark', { losesMark: (n) => n % 2 === 0, wayMs: 40 }],
    ['takes each frame as it comes', { playback: 'paced' }],
  ];

  it.each(carriers)('tells what was heard by a carrier that %s, at any time', async (_what, options) => {
    let before = { heardText: '', playedMs: 0 };
    for (let ms = 0; ms < 1600; ms += 37) {
      const call = new Speaking(options);
      call.voice.say(TEXT);
      await call.run(ms, 37);
      const heard = call.voice.interrupt() ?? call.spoken[0];
      const { heardText = '', playedMs = 0 } = heard ?? {};
      expect(TEXT.startsWith(heardText)).toBe(true);
      expect(heardText === '' || [undefined, ' '].includes(TEXT[heardText.length])).toBe(true);
      expect(heardText.startsWith(before.heardText)).toBe(true);
      expect(playedMs).toBeGreaterThanOrEqual(before.playedMs);
      // Within a frame and the way to the carrier and back of what it played.
      const wayMs = options?.wayMs ?? 0;
      if (options?.playback !== 'paced') {
        expect(Math.abs(playedMs - call.player.heard.length * FRAME_MS)).toBeLessThanOrEqual(FRAME_MS + 2 * wayMs);
      }
      before = { heardText, playedMs };
    }
    expect(before.heardText).toBe(TEXT);
  });

  it('does not count the marks that a cleared carrier returns', async () => {
    const call = new Speaking({ wayMs: 60 });
    call.voice.say(TEXT);
    await call.run(300);
    const heard = call.voice.interrupt();
    await call.run(2000);
    expect(heard?.heardText).toBe('One two three');
    expect(call.spoken).toHaveLength(1);
  });

  it('may come at any ms: what was heard is a beginning in whole words', async () => {
    const moments = fc.record({
      ms: fc.integer({ min: 0, max: 1500 }),
      wayMs: fc.integer({ min: 0, max: 200 }),
      lead: fc.integer({ min: 40, max: 900 }),
    });
    const playbacks: readonly Playback[] = ['buffered', 'paced'];
    await fc.assert(
      fc.asyncProperty(moments, fc.constantFrom(...playbacks), async ({ ms, wayMs, lead }, playback) => {
        const call = new Speaking({ playback, wayMs, environment: { PLAYOUT_LEAD_MS: String(lead) } });
        call.engine.speakMs = 30;
        call.voice.say(TEXT);
        await call.run(ms, 50);
        const heard = call.voice.interrupt() ?? call.spoken[0];
        const { heardText = 'none' } = heard ?? {};
        expect(TEXT.startsWith(heardText)).toBe(true);
        expect(heardText === '' || [undefined, ' '].includes(TEXT[heardText.length])).toBe(true);
        expect(call.spoken).toHaveLength(1);
        await call.run(500, 50);
        expect(call.clock.pending).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
