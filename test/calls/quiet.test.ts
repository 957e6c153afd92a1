import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AppFrame, readAppFrame } from '../../src/calls/app/frames.ts';
import { type AppRequest, readAppRequest } from '../../src/calls/app/request.ts';
import { AppSession } from '../../src/calls/app/session.ts';
import { EchoFilter } from '../../src/calls/inbound/echo-filter.ts';
import { readSettings } from '../../src/foundation/settings/config.ts';
import type { Playback } from '../../src/protocols/dialect.ts';
import { FakeAnswer } from '../fakes/call-answer.ts';
import { fakeLanguages } from '../fakes/languages.ts';
import { Speaking } from './speaking.ts';

/** Twelve ms each; 8000 were run when this was written. */
const RUNS = 40;

/** A caller and an app in one call, each of whom may do anything at any time. */
class Talk {
  readonly speaking: Speaking;
  readonly session: AppSession;
  readonly prompts: string[] = [];
  readonly failures: unknown[] = [];
  readonly #echoFilter: EchoFilter;
  #fences = 0;
  #isAway = false;
  #callerSpeaks = false;
  #speechFromMs = 0;
  #utterance = 0;

  constructor(playback: Playback, wayMs: number, losesMarks: boolean, parameters: Record<string, string>) {
    const request = readAppRequest(parameters, readSettings({ APP_URL: 'wss://app.example.com/' })) as AppRequest;
    this.speaking = new Speaking({ playback, wayMs, losesMark: (n) => losesMarks && n % 2 === 0 });
    const { voice, clock } = this.speaking;
    this.#echoFilter = new EchoFilter({ voice, nowMs: () => clock.nowMs(), onEcho: () => undefined });
    this.session = new AppSession({
      request,
      voice,
      clock,
      answer: new FakeAnswer(),
      trace: null,
      flushMs: 1000,
      channel: {
        send: (frame) => void (frame.type === 'prompt' && this.prompts.push(frame.voicePrompt)),
        sendNow: () => undefined,
        fence: () => {
          if (!this.#isAway) this.#fences++;
        },
        pause: () => undefined,
        resume: () => undefined,
      },
      fetchAudio: () =>
        new Promise((done) => clock.after(300, () => done({ samples: new Int16Array(4000), rateHz: 8000 }))),
      onFlush: () => undefined,
      language: fakeLanguages(),
      speaks: () => true,
      onEnd: () => undefined,
      onFailure: (error) => void this.failures.push(error),
    });
  }

  app(frame: unknown): void {
    if (!this.#isAway) this.session.receive(readAppFrame(JSON.stringify(frame)) as AppFrame);
  }

  /** The app reads what it was sent. */
  read(): void {
    for (; this.#fences > 0; this.#fences--) this.session.onFence();
  }

  connection(what: 'lost' | 'made'): void {
    if (this.#isAway === (what === 'lost')) return;
    this.#isAway = what === 'lost';
    this.#fences = 0;
    if (this.#isAway) this.session.onLost();
  }

  speech(type: 'started' | 'stopped'): void {
    if (this.#callerSpeaks === (type === 'started')) return;
    this.#callerSpeaks = type === 'started';
    if (this.#callerSpeaks) this.#utterance++;
    const atMs = this.speaking.clock.nowMs();
    if (this.#callerSpeaks) this.#speechFromMs = atMs;
    this.#hear({ type: `speech.${type}`, atMs });
  }

  caption(text: string, final: boolean): void {
    const startMs = this.#speechFromMs;
    const endMs = this.speaking.clock.nowMs();
    this.#hear({
      type: 'caption',
      utterance: this.#utterance,
      stable: text,
      tail: '',
      text,
      final,
      startMs,
      endMs,
      lagMs: 0,
    });
  }

  turnEnded(): void {
    this.session.onSpeech({ type: 'turn.ended', first: 1, last: this.#utterance, atMs: 0 });
  }

  #hear(event: Parameters<EchoFilter['filter']>[0]): void {
    const filtered = this.#echoFilter.filter(event);
    if (filtered !== null) this.session.onSpeech(filtered);
  }
}

const texts = fc.constantFrom(
  'One two three. ',
  'Four five',
  ' six',
  '. Seven eight nine ten eleven.',
  'Yes',
  ' ',
  'Is it so? ',
  '日本語',
  'a'.repeat(80),
);
const words = fc.constantFrom('mhm', 'no wait', 'One two three four', 'yes', '', 'something else entirely');
const kinds = fc.constantFrom('none', 'dtmf', 'speech', 'any');
type Step = readonly [string, (talk: Talk) => void | Promise<void>];
const step = <T>(
  name: string,
  values: fc.Arbitrary<T>,
  act: (talk: Talk, value: T) => void | Promise<void>,
): fc.Arbitrary<Step> =>
  values.map((value) => [`${name} ${JSON.stringify(value)}`, (talk) => act(talk, value)] as const);
const nothing = fc.constant(null);

const steps = fc.oneof(
  { weight: 8, arbitrary: step('wait', fc.integer({ min: 0, max: 900 }), (talk, ms) => talk.speaking.run(ms, 20)) },
  { weight: 2, arbitrary: step('wait', fc.integer({ min: 900, max: 2500 }), (talk, ms) => talk.speaking.run(ms, 50)) },
  {
    weight: 8,
    arbitrary: step('text', fc.record({ token: texts, last: fc.boolean() }), (talk, frame) =>
      talk.app({ type: 'text', ...frame }),
    ),
  },
  step('text', fc.record({ token: texts, interruptible: kinds, preemptible: fc.boolean() }), (talk, frame) =>
    talk.app({ type: 'text', ...frame }),
  ),
  step('play', nothing, (talk) => talk.app({ type: 'play', source: 'http://example.com/a.wav' })),
  step('digits', nothing, (talk) => talk.app({ type: 'sendDigits', digits: '1w' })),
  { weight: 6, arbitrary: step('caller', fc.constantFrom('started', 'stopped'), (talk, type) => talk.speech(type)) },
  { weight: 3, arbitrary: step('partial', words, (talk, text) => talk.caption(text, false)) },
  { weight: 3, arbitrary: step('final', words, (talk, text) => talk.caption(text, true)) },
  { weight: 3, arbitrary: step('turn ended', nothing, (talk) => talk.turnEnded()) },
  step('dtmf', nothing, (talk) => {
    talk.speaking.voice.onDtmf('1');
    talk.session.onDtmf('1');
  }),
  step(
    'say',
    fc.record({ preemptible: fc.boolean() }),
    (talk, options) => void talk.speaking.voice.say('From elsewhere. And more.', options),
  ),
  step('interrupt', nothing, (talk) => void talk.speaking.voice.interrupt()),
  step('read', nothing, (talk) => talk.read()),
  step('connection', fc.constantFrom('lost', 'made'), (talk, what) => talk.connection(what)),
  step('engine', fc.constantFrom(0, 30, 400), (talk, ms) => {
    talk.speaking.engine.speakMs = ms;
  }),
  step('engine fails', fc.constantFrom('bad_input', 'model_failed', null), (talk, code) => {
    talk.speaking.engine.failure = code;
  }),
);

const carriers = fc.record({
  playback: fc.constantFrom<Playback>('buffered', 'paced'),
  wayMs: fc.constantFrom(0, 30, 150),
  losesMarks: fc.boolean(),
  parameters: fc.constantFrom<Record<string, string>>(
    {},
    { interruptible: 'dtmf' },
    { reportInputDuringAgentSpeech: 'any' },
    { preemptible: 'true' },
  ),
});

describe('a call in which nobody speaks any more', () => {
  it('has played all that was said and not interrupted, and what the app says next is heard', async () => {
    await fc.assert(
      fc.asyncProperty(
        carriers,
        fc.array(steps, { maxLength: 25 }),
        async ({ playback, wayMs, losesMarks, parameters }, acts) => {
          const talk = new Talk(playback, wayMs, losesMarks, parameters);
          const { speaking } = talk;
          for (const [, act] of acts) await act(talk);
          speaking.engine.failure = null;
          talk.speech('stopped');
          talk.connection('made');
          await speaking.run(60_000, 500);
          expect(speaking.voice.speaking).toBe(false);
          const allCanBeSaid = !acts.some(([name]) => name.startsWith('engine fails'));
          for (const { text, heardText, interrupted } of speaking.spoken)
            if (!interrupted && allCanBeSaid) expect(heardText).toBe(text);
          speaking.voice.say('Still here.');
          await speaking.run(3000, 200);
          expect(speaking.spoken.at(-1)).toMatchObject({
            text: 'Still here.',
            heardText: 'Still here.',
            interrupted: false,
          });
          talk.caption('and now for something new', true);
          talk.turnEnded();
          talk.read();
          talk.app({ type: 'text', token: 'Here I am.' });
          await speaking.run(5000, 100);
          expect(speaking.spoken.at(-1)).toMatchObject({
            text: 'Here I am.',
            heardText: 'Here I am.',
            interrupted: false,
          });
          expect(talk.failures).toEqual([]);
          expect(speaking.clock.pending).toBe(0);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('an app that says nothing for a while, wherever that is', () => {
  it('has every character said, once and in order', async () => {
    const piece = fc.oneof(
      texts,
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
      fc.constantFrom('\ud83d', '\ude00', 'e\u0301', 'don’', 't '),
    );
    const tokens = fc.array(fc.tuple(piece, fc.constantFrom(0, 0, 0, 40, 999, 1100, 2500)), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(tokens, async (all) => {
        const talk = new Talk('buffered', 0, false, {});
        for (const [token, quietMs] of all) {
          talk.app({ type: 'text', token });
          await talk.speaking.run(quietMs, 100);
        }
        await talk.speaking.run(30_000, 500);
        expect(talk.speaking.spoken.map(({ heardText }) => heardText).join('')).toBe(
          all.map(([token]) => token).join(''),
        );
        expect(talk.speaking.clock.pending).toBe(0);
      }),
      { numRuns: RUNS },
    );
  });
});
