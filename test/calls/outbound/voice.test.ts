import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../src/engine-client/engine.ts';
import { FRAME_MS } from '../../../src/foundation/units.ts';
import { metricValue } from '../harness.ts';
import { CHAR_MS, Speaking, turns } from '../speaking.ts';

const TEXT = 'One two three four. Five six seven eight nine. Ten eleven twelve.';

describe('a text that is said', () => {
  it('is heard sentence by sentence, to its end', async () => {
    const call = new Speaking();
    expect(call.voice.say(TEXT)).toBe('u1');
    await call.run(3000);
    expect(call.story).toEqual([
      'speaking u1',
      'heard "One two three four. "',
      'heard "Five six seven eight nine. "',
      'heard "Ten eleven twelve."',
      `spoken u1 "${TEXT}"`,
    ]);
    expect(call.spoken[0]?.playedMs).toBe(call.player.heard.length * FRAME_MS);
    expect(call.voice.speaking).toBe(false);
    expect(call.clock.pending).toBe(0);
  });

  it('has no gap between its sentences when they are made in time', async () => {
    const call = new Speaking();
    call.engine.speakMs = 100;
    call.voice.say(TEXT);
    await call.run(100 + 300);
    const before = call.player.heard.length;
    await call.run(500);
    expect(call.player.heard.length - before).toBe(500 / FRAME_MS);
  });

  it.each([
    ['a text', (call: Speaking) => call.voice.say('! '.repeat(5000))],
    ['a recording', (call: Speaking) => call.voice.play(new Int16Array(0), 8000, { label: 'empty', loop: 1000 })],
  ])('without any sound holds up nobody: %s', async (_what, say) => {
    const call = new Speaking();
    say(call);
    await turns();
    expect(call.voice.speaking).toBe(true);
    for (let waits = 0; call.voice.speaking && waits < 1000; waits++) await turns();
    expect(call.spoken).toMatchObject([{ interrupted: false, playedMs: 0 }]);
  });

  it('begins as soon as its first sentence is made', async () => {
    const call = new Speaking();
    call.engine.speakMs = 80;
    call.voice.say(TEXT);
    await call.run(80);
    expect(call.framesAtMs[0]).toBe(80);
  });

  it('begins at once when it is in the cache', async () => {
    const call = new Speaking();
    call.voice.say('Hello there.');
    await call.run(1000);
    call.engine.speakMs = 5000;
    const { frames } = call;
    call.voice.say('Hello there.');
    await turns();
    expect(call.frames).toBeGreaterThan(frames);
    expect(call.engine.spoken).toHaveLength(1);
  });

  it('is made two sentences ahead and no further', async () => {
    const call = new Speaking();
    call.voice.say(Array.from({ length: 20 }, (_, n) => `This is the long sentence number ${n} of them. `).join(''));
    await turns();
    expect(call.engine.spoken).toHaveLength(3);
    const sentenceMs = (call.engine.spoken[0]?.text.length ?? 0) * CHAR_MS;
    await call.run(sentenceMs);
    expect(call.engine.spoken).toHaveLength(4);
  });

  it('is asked for with the time that is left before it is needed', async () => {
    const call = new Speaking();
    call.voice.say('This is the first sentence. And this is the second.');
    await turns();
    expect(call.engine.spoken.map(({ dueInMs }) => dueInMs)).toEqual([
      0,
      (call.engine.spoken[0]?.text.length ?? 0) * CHAR_MS,
    ]);
    expect(call.engine.spoken.every(({ urgency }) => urgency === 'speak')).toBe(true);
  });

  it('waits for its turn', async () => {
    const call = new Speaking();
    call.voice.say('The first one.');
    call.voice.say('The second one.');
    await call.run(2000);
    expect(call.story).toEqual([
      'speaking u1',
      'speaking u2',
      'heard "The first one."',
      'spoken u1 "The first one."',
      'heard "The second one."',
      'spoken u2 "The second one."',
    ]);
  });

  it('is over at once when nothing in it can be spoken', async () => {
    const call = new Speaking();
    call.voice.say(' … ');
    call.voice.say('');
    await turns();
    expect(call.story).toEqual(['heard " … "', 'spoken u1 " … "', 'spoken u2 ""']);
    expect(call.engine.spoken).toEqual([]);
    expect(call.frames).toBe(0);
  });

  it('may be very long: it is taken as it is needed', async () => {
    const call = new Speaking();
    const text = 'All work and no play makes a dull call. '.repeat(2500);
    expect(text.length).toBe(100_000);
    call.voice.say(text);
    await call.run(1000);
    expect(call.engine.spoken.length).toBeLessThan(8);
    call.voice.interrupt();
    expect(call.spoken[0]?.heardText).toMatch(/^All work and no play/);
    expect(call.clock.pending).toBe(0);
  });

  it('is spoken in voice and speed as asked', async () => {
    const call = new Speaking();
    call.voice.say('Hello there.', { voice: 'slt', speed: 2 });
    call.voice.say('Hello there.', { voice: 'alloy' });
    await turns();
    expect(call.engine.spoken).toMatchObject([
      { voice: 'slt', speed: 2 },
      { voice: 'slt', speed: 1 },
    ]);
    expect(() => call.voice.say('x', { voice: 'nobody' })).toThrow(/nobody/);
    for (const speed of [0, 5, Number.NaN]) expect(() => call.voice.say('x', { speed })).toThrow(/speed/);
  });

  it('is read out as written when asked', async () => {
    const call = new Speaking();
    call.voice.say('It is $5.');
    call.voice.say('It is $5.', { textNormalize: false });
    await turns();
    expect(call.engine.spoken.map(({ text }) => text)).toEqual([expect.stringMatching(/five dollars/), 'It is $5.']);
  });

  it('waits for an engine that has not said yet which voices there are', async () => {
    const call = new Speaking();
    const { voices } = call.engine;
    call.engine.voices = [];
    call.engine.detectMs = 700;
    call.voice.say('Hello there.', { voice: 'slt' });
    await call.run(600);
    expect(call.engine.spoken).toEqual([]);
    call.engine.voices = voices;
    await call.run(200);
    expect(call.engine.spoken).toMatchObject([{ voice: 'slt' }]);
  });
});

describe('a text that comes in pieces', () => {
  it('is heard before it is complete', async () => {
    const call = new Speaking();
    const utterance = call.voice.open();
    for (const piece of ['Hello th', 'ere. How a', 're']) utterance.write(piece);
    await call.run(500);
    expect(call.story).toEqual(['speaking u1', 'heard "Hello there. "']);
    utterance.write(' you?');
    utterance.end();
    await call.run(1000);
    expect(call.story.at(-1)).toBe('spoken u1 "Hello there. How are you?"');
  });

  it('holds up what is said after it until it is complete', async () => {
    const call = new Speaking();
    const utterance = call.voice.open();
    call.voice.say('Later.');
    await call.run(3000);
    expect(call.events).toEqual([]);
    utterance.end();
    await call.run(1000);
    expect(call.story).toEqual(['spoken u1 ""', 'speaking u2', 'heard "Later."', 'spoken u2 "Later."']);
  });

  it('lands nowhere after it was interrupted', async () => {
    const call = new Speaking();
    const utterance = call.voice.open();
    utterance.write('Hello there. ');
    await call.run(100);
    call.voice.interrupt();
    const { frames } = call;
    utterance.write('More of it. And more.');
    utterance.end();
    await call.run(2000);
    expect(call.frames).toBe(frames);
    expect(call.spoken).toHaveLength(1);
  });
});

describe('what makes way for the next', () => {
  it('is cut off by it', async () => {
    const call = new Speaking();
    call.voice.say('One two three four five six.', { preemptible: true });
    await call.run(300);
    call.voice.say('Seven eight.');
    await call.run(1000);
    expect(call.story).toEqual([
      'speaking u1',
      'interrupted u1 "One two three"',
      'speaking u2',
      'heard "Seven eight."',
      'spoken u2 "Seven eight."',
    ]);
  });

  it('is thrown away while it waits; what stands before it is not touched', async () => {
    const call = new Speaking();
    call.voice.say('One two three four five six.');
    call.voice.say('Please hold.', { preemptible: true });
    await call.run(100);
    call.voice.say('Seven eight.');
    await call.run(3000);
    expect(call.story.filter((entry) => entry.startsWith('spoken') || entry.startsWith('interrupted'))).toEqual([
      'interrupted u2 ""',
      'spoken u1 "One two three four five six."',
      'spoken u3 "Seven eight."',
    ]);
    expect(call.player.heard.length * FRAME_MS).toBe(call.spoken.reduce((sum, { playedMs }) => sum + playedMs, 0));
  });
});

describe('an engine that fails', () => {
  it('is asked once more for the sentence', async () => {
    const call = new Speaking();
    call.engine.failure = 'model_failed';
    call.engine.speakMs = 50;
    call.voice.say('Hello there.');
    await call.run(60);
    call.engine.failure = null;
    await call.run(1000);
    expect(call.engine.spoken).toHaveLength(2);
    expect(call.story.at(-1)).toBe('spoken u1 "Hello there."');
  });

  it('costs the sentence that it fails at twice, and no other', async () => {
    const before = await metricValue('trunkline_sentences_skipped_total', {});
    const call = new Speaking();
    call.engine.speak = failingAt('secret', call.engine.speak.bind(call.engine));
    call.voice.say('The first. A secret one. The last.');
    await call.run(2000);
    expect(call.story.at(-1)).toBe('spoken u1 "The first. The last."');
    expect(await metricValue('trunkline_sentences_skipped_total', {})).toBe(before + 1);
    expect(call.gateway.logLines.join()).not.toContain('secret');
  });

  it('costs an utterance when it fails in a way that nobody foresaw, and not the next', async () => {
    const call = new Speaking();
    const { utter } = call.engine;
    call.engine.utter = () => {
      throw new TypeError('broken');
    };
    call.voice.say('Hello there.');
    await call.run(100);
    call.engine.utter = utter;
    call.voice.say('Hello again.');
    await call.run(2000);
    expect(call.story.filter((entry) => entry.startsWith('spoken'))).toEqual([
      'spoken u1 ""',
      'spoken u2 "Hello again."',
    ]);
  });
});

describe('limits', () => {
  it('are set to how much may wait in one call', () => {
    const call = new Speaking();
    for (let n = 0; n < 200; n++) call.voice.say('Hello.');
    expect(() => call.voice.say('Hello.')).toThrow(expect.objectContaining({ code: 'speech_queue_full' }));
    call.voice.close();
    const large = new Speaking();
    expect(() => large.voice.play(new Int16Array(20_000_000), 8000, { label: 'music' })).toThrow(
      expect.objectContaining({ code: 'speech_queue_full' }),
    );
    const utterance = large.voice.open();
    for (let n = 0; n < 16; n++) utterance.write('x'.repeat(1_000_000));
    expect(() => utterance.write('x'.repeat(1_000_000))).toThrow(
      expect.objectContaining({ code: 'speech_queue_full' }),
    );
    large.voice.close();
  });

  it('refuse a call that takes no sound, and one that is over', () => {
    expect(() => new Speaking({ playback: 'none' }).voice.say('Hello.')).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
    const over = new Speaking();
    over.voice.close();
    expect(() => over.voice.say('Hello.')).toThrow(expect.objectContaining({ code: 'call_not_found' }));
    expect(() => over.voice.sendDigits('1')).toThrow(expect.objectContaining({ code: 'call_not_found' }));
  });
});

describe('keys', () => {
  it('are told when their tones begin, in turn, for carriers that press them in their own way', async () => {
    const call = new Speaking({ playback: 'paced' });
    call.voice.say('Hi.');
    call.voice.sendDigits('1w#');
    await call.run(2000);
    const tones = call.framesAtMs.slice(3);
    expect(call.pressed).toEqual([
      { digit: '1', atMs: tones[0] },
      { digit: '#', atMs: (tones[0] ?? 0) + 700 },
    ]);
    expect(tones).toHaveLength(10 + 25 + 10);
  });
});

describe('closing', () => {
  it('leaves no timer, no job and nobody waiting, whenever it comes', async () => {
    for (const ms of [0, 30, 100, 700, 5000]) {
      const call = new Speaking();
      call.engine.speakMs = 60;
      call.voice.say(TEXT);
      const utterance = call.voice.open();
      utterance.write('Still coming');
      const drained = call.voice.drained();
      await call.run(ms);
      call.voice.onCallerSpeech('started');
      call.voice.close();
      await drained;
      await turns();
      expect(call.clock.pending).toBe(0);
      expect(call.engine.pending).toBe(0);
      expect(call.spoken.map(({ utterance: id }) => id)).toEqual(['u1', 'u2']);
    }
  });
});

/** `speak`, failing with an engine's error for a text that holds `word`. */
function failingAt(word: string, speak: Speaking['engine']['speak']): Speaking['engine']['speak'] {
  return (request) => {
    if (request.text.includes(word)) return Promise.reject(new EngineError('model_failed', 'told to fail'));
    return speak(request);
  };
}
