/** The caller into our speech: pauses, interruptions, keys, recordings and echoes, with the whole voice at work. */
import { describe, expect, it } from 'vitest';
import { EchoFilter } from '../../src/calls/inbound/echo-filter.ts';
import { FRAME_MS } from '../../src/foundation/units.ts';
import type { SpeechEvent } from '../../src/transcription/live-transcriber.ts';
import { metricValue } from './harness.ts';
import { Speaking } from './speaking.ts';

const TEXT = 'Your balance is forty two dollars. Would you like to hear more?';
const LONG_TEXT = `${TEXT} Just say yes or no, or press one.`;

describe('a caller who speaks into it', () => {
  it('silences it at once and makes it resume where it paused after a cough', async () => {
    const call = new Speaking();
    call.voice.say(TEXT);
    await call.run(510);
    call.voice.onCallerSpeech('started');
    expect(call.sent.at(-1)).toEqual({ command: { type: 'clear' }, atMs: 510 });
    const heardFrames = call.player.heard.length;
    await call.run(600);
    expect(call.player.heard).toHaveLength(heardFrames);
    call.voice.onCallerSpeech('stopped');
    await call.run(3000);
    expect(call.story.at(-1)).toBe(`spoken u1 "${TEXT}"`);
    expect(call.player.heard.length * FRAME_MS).toBe(call.spoken[0]?.playedMs);
  });

  it('interrupts it with a word, and what was heard up to the pause is told', async () => {
    const call = new Speaking();
    call.voice.say(TEXT);
    await call.run(500);
    call.voice.onCallerSpeech('started');
    await call.run(300);
    call.voice.onCallerSpeech({ word: 'Stop' });
    expect(call.spoken).toEqual([
      {
        type: 'spoken',
        utterance: 'u1',
        text: TEXT,
        heardText: 'Your balance is forty two',
        playedMs: 500,
        interrupted: true,
        startMs: 0,
        endMs: 500,
      },
    ]);
    expect(call.clears).toBe(1);
    await call.run(1000);
    expect(call.clock.pending).toBe(0);
  });

  it('is listened to by an answer that begins into speech', async () => {
    const call = new Speaking();
    call.voice.onCallerSpeech('started');
    call.voice.say(TEXT);
    await call.run(100);
    expect(call.player.heard.length).toBeLessThanOrEqual(1);
    call.voice.onCallerSpeech({ word: 'as I said' });
    expect(call.story).toEqual(['speaking u1', 'interrupted u1 ""']);
  });

  it('does not stop what may not be interrupted', async () => {
    const call = new Speaking();
    call.voice.say(TEXT, { interruptible: false });
    await call.run(500);
    call.voice.onCallerSpeech('started');
    call.voice.onCallerSpeech({ word: 'stop it' });
    call.voice.onDtmf('1');
    await call.run(3000);
    expect(call.story.at(-1)).toBe(`spoken u1 "${TEXT}"`);
    expect(call.clears).toBe(0);
  });

  it('leaves a pause behind that ends with the interruption by somebody else', async () => {
    const call = new Speaking();
    call.voice.say(TEXT);
    await call.run(500);
    call.voice.onCallerSpeech('started');
    call.voice.interrupt();
    call.voice.say('Something else.');
    await call.run(2000);
    expect(call.story.at(-1)).toBe('spoken u2 "Something else."');
  });

  it('counts what came of it', async () => {
    const counted = () =>
      Promise.all(['words', 'resumed', 'dtmf'].map((outcome) => metricValue('trunkline_barge_ins_total', { outcome })));
    const before = await counted();
    const call = new Speaking();
    call.voice.say(TEXT);
    await call.run(100);
    call.voice.onCallerSpeech('started');
    await call.run(450);
    call.voice.onCallerSpeech('stopped');
    call.voice.onDtmf('5');
    expect((await counted()).map((value, n) => value - (before[n] ?? 0))).toEqual([0, 1, 1]);
  });
});

describe('keys that we press', () => {
  it('sound in turn, are told to nobody and stopped by nobody', async () => {
    const call = new Speaking();
    call.voice.say('Dialling now.');
    call.voice.sendDigits('1w2');
    call.voice.say('Done.');
    await call.run(260 + 300);
    call.voice.onCallerSpeech('started');
    call.voice.onDtmf('1');
    await call.run(3000);
    expect(call.story.filter((entry) => !entry.startsWith('heard'))).toEqual([
      'speaking u1',
      'spoken u1 "Dialling now."',
      'speaking u3',
      'spoken u3 "Done."',
    ]);
    const spokenMs = call.spoken.reduce((sum, { playedMs }) => sum + playedMs, 0);
    expect(call.player.heard.length * FRAME_MS - spokenMs).toBe(200 + 500 + 200);
  });

  it.each(['', 'x', '1-2', '1'.repeat(101)])('are refused when they are none: %j', (digits) => {
    expect(() => new Speaking().voice.sendDigits(digits)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});

describe('a recording', () => {
  it.each([8000, 16_000, 22_050])(
    'at %i Hz is played to its end without a gap, then told by its label',
    async (rateHz) => {
      const call = new Speaking();
      call.voice.play(new Int16Array(rateHz * 2.5), rateHz, { label: 'https://example.com/a.wav' });
      await call.run(1000);
      expect(call.player.heard.length).toBeGreaterThanOrEqual(1000 / FRAME_MS - 1);
      await call.run(3000);
      expect(call.player.heard).toHaveLength(2500 / FRAME_MS);
      expect(call.spoken).toEqual([
        {
          type: 'spoken',
          utterance: 'u1',
          text: 'https://example.com/a.wav',
          heardText: 'https://example.com/a.wav',
          playedMs: 2500,
          interrupted: false,
          startMs: 0,
          endMs: 2500,
        },
      ]);
    },
  );

  it('is played as often as asked', async () => {
    const call = new Speaking();
    call.voice.play(new Int16Array(4000), 8000, { label: 'music', loop: 3 });
    await call.run(3000);
    expect(call.spoken).toMatchObject([{ heardText: 'music', playedMs: 1500 }]);
  });

  it('was not heard when it was cut off', async () => {
    const call = new Speaking();
    call.voice.play(new Int16Array(80_000), 8000, { label: 'music on hold', loop: 1000 });
    await call.run(4000);
    expect(call.voice.interrupt()).toMatchObject({ heardText: '', playedMs: 4000 });
  });

  it('is refused with a rate or a loop that is none', () => {
    const { voice } = new Speaking();
    for (const rateHz of [0, 8000.5, 1e9])
      expect(() => voice.play(new Int16Array(8), rateHz, { label: 'x' })).toThrow(/rate/);
    for (const loop of [0, 1.5, 1001])
      expect(() => voice.play(new Int16Array(8), 8000, { label: 'x', loop })).toThrow(/loop/);
  });
});

describe('what the caller is heard to say', () => {
  /** A voice that has been speaking for a second, and the ear's events let through. */
  async function echoFilter() {
    const call = new Speaking();
    const log: string[] = [];
    let receivedMs = 0;
    const transcribers = new EchoFilter({ voice: call.voice, nowMs: () => receivedMs, onEcho: () => log.push('echo') });
    const hear = (event: SpeechEvent): void => {
      const passed = transcribers.filter(event);
      if (passed?.type === 'caption') log.push(`${passed.final ? 'final' : 'partial'} "${passed.text}"`);
    };
    const run = async (ms: number): Promise<void> => {
      receivedMs += ms;
      await call.run(ms);
    };
    const caption = (text: string, final: boolean, startMs: number, utterance = 1): SpeechEvent => ({
      type: 'caption',
      utterance,
      stable: '',
      tail: text,
      text,
      final,
      startMs,
      endMs: receivedMs,
      lagMs: 5,
    });
    call.voice.say(LONG_TEXT);
    await run(1000);
    return { call, log, hear, run, caption };
  }

  it('is not shown when it is our own voice, and does not stop it', async () => {
    const { call, log, hear, run, caption } = await echoFilter();
    hear({ type: 'speech.started', atMs: 900 });
    await run(300);
    hear(caption('your balance is forty', false, 900));
    await run(300);
    hear({ type: 'speech.stopped', atMs: 1300 });
    hear(caption('Your balance is forty two.', true, 900));
    await run(3000);
    expect(log).toEqual(['echo']);
    expect(call.story.at(-1)).toBe(`spoken u1 "${LONG_TEXT}"`);
  });

  it('still ends when its first words were shown', async () => {
    const { log, hear, run, caption } = await echoFilter();
    hear({ type: 'speech.started', atMs: 900 });
    hear(caption('your', false, 900));
    await run(300);
    hear(caption('your balance is forty', false, 900));
    hear(caption('Your balance is forty two.', true, 900));
    expect(log).toEqual(['partial "your"', 'echo', 'final ""']);
  });

  it('is shown, and interrupts, when it goes on in words of its own', async () => {
    const { call, log, hear, run, caption } = await echoFilter();
    hear({ type: 'speech.started', atMs: 900 });
    hear(caption('your balance is forty', false, 900));
    expect(call.spoken).toEqual([]);
    await run(300);
    hear(caption('your balance is forty no I wanted something else altogether', false, 900));
    expect(log).toEqual(['partial "your balance is forty no I wanted something else altogether"']);
    expect(call.spoken).toMatchObject([{ interrupted: true }]);
  });

  it('is shown when it repeats our words long after we said them', async () => {
    const { call, log, hear, run, caption } = await echoFilter();
    call.voice.interrupt();
    await run(5000);
    hear({ type: 'speech.started', atMs: 5900 });
    await run(300);
    hear(caption('your balance is forty two', true, 5900));
    expect(log).toEqual(['final "your balance is forty two"']);
  });

  it('does not interrupt an answer by the late final of the question', async () => {
    const { call, hear, caption } = await echoFilter();
    hear({ type: 'speech.started', atMs: 950 });
    hear(caption('what is my account good for', true, 100));
    expect(call.spoken).toEqual([]);
  });
});
