/** What a caller says reaches the app whole, whatever happens meanwhile: a real transcriber and a real session. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TurnListener } from '../../../src/transcription/turns.ts';
import { settle } from '../../fakes/clock.ts';
import { silence, spoken } from '../../fakes/engine.ts';
import { TranscriberHarness } from '../../transcription/transcriber-harness.ts';
import { Conversation } from './conversation.ts';

/** Nine ms each; 4000 were run when this was written. */
const RUNS = 100;
const ignore = (): void => undefined;

class Call implements TurnListener {
  readonly track: TranscriberHarness;
  readonly conversation = new Conversation();
  wanted = true;
  digits = false;
  /** Words said so far; each is another one. */
  said = 0;
  #told = 0;
  readonly onEnded = ignore;
  readonly onContinued = ignore;
  readonly onAnswer = ignore;

  constructor(settings: { TURN_EARLY_ABOVE: number; JOIN_MS: number; MAX_UTTERANCE_MS: number }, decisions: number[]) {
    this.track = new TranscriberHarness({ settings, turns: this });
    const { engine } = this.track;
    engine.turnModel = 'fake-turn-1';
    engine.decide = () => decisions[engine.turns.length % decisions.length] ?? 1;
  }

  isWanted = (): boolean => this.wanted;
  expected = () => (this.digits ? { max: 7 } : null);

  async say(words: number): Promise<void> {
    await this.#play(spoken(Array.from({ length: words }, (_, n) => this.said + n + 1)));
    this.said += words;
  }

  async pause(durationMs: number): Promise<void> {
    await this.#play(silence(durationMs));
  }

  async #play(audio: Int16Array): Promise<void> {
    await this.track.say(audio);
    this.tell();
  }

  /** What was recognised goes to the session. */
  tell(): void {
    for (; this.#told < this.track.events.length; this.#told++) {
      const event = this.track.events[this.#told];
      if (event !== undefined && event.type !== 'gap' && event.type !== 'language' && event.type !== 'speech.certain')
        this.conversation.session.onSpeech(event);
    }
  }

  get prompts(): string[] {
    return this.conversation.told.flatMap((frame) =>
      frame.type === 'prompt' && frame.last ? [frame.voicePrompt.toLowerCase().replace(/\./gu, '')] : [],
    );
  }
}

type Step = readonly [string, (call: Call) => void | Promise<void>];
const step = <T>(name: string, values: fc.Arbitrary<T>, act: (call: Call, value: T) => void | Promise<void>) =>
  values.map((value): Step => [`${name} ${JSON.stringify(value)}`, (call) => act(call, value)]);
const nothing = fc.constant(null);

const steps = fc.oneof(
  { weight: 8, arbitrary: step('say', fc.integer({ min: 1, max: 6 }), (call, words) => call.say(words)) },
  { weight: 8, arbitrary: step('pause', fc.integer({ min: 1, max: 100 }), (call, n) => call.pause(20 * n)) },
  step('long', fc.integer({ min: 10, max: 30 }), (call, words) => call.say(words)),
  step('key', nothing, (call) => call.conversation.session.onDtmf('1')),
  step('stall', nothing, async (call) => {
    call.track.transcriber.stall(call.track.clock.nowMs());
    await settle();
    call.tell();
  }),
  step('text takes', fc.constantFrom(0, 60, 300, 900), (call, ms) => {
    call.track.engine.transcribeMs = ms;
  }),
  step('decision takes', fc.constantFrom(0, 60, 300), (call, ms) => {
    call.track.engine.turnMs = ms;
  }),
  step('turn model', fc.constantFrom(null, 'fake-turn-1'), (call, model) => {
    call.track.engine.turnModel = model;
  }),
  step('app', fc.boolean(), (call, isThere) => {
    call.wanted = isThere;
  }),
  step('digits', fc.boolean(), (call, expected) => {
    call.digits = expected;
  }),
  step('connection lost', nothing, (call) => call.conversation.session.onLost()),
);

const settings = fc.record({
  TURN_EARLY_ABOVE: fc.constantFrom(1, 0.9),
  JOIN_MS: fc.constantFrom(0, 1200),
  MAX_UTTERANCE_MS: fc.constantFrom(2000, 12_000),
});
const decisions = fc.array(fc.constantFrom(0.05, 0.1, 0.5, 0.95), { minLength: 1, maxLength: 5 });
const ends = fc.constantFrom('track', 'given up', 'hang-up');

describe('the words of a caller', () => {
  it('are in one prompt each, in order, and every turn ends behind its finals', async () => {
    await fc.assert(
      fc.asyncProperty(
        settings,
        decisions,
        fc.array(steps, { maxLength: 20 }),
        ends,
        async (set, judged, acts, end) => {
          const call = new Call(set, judged);
          const { track, conversation } = call;
          for (const [, act] of acts) await act(call);
          if (end === 'track') await track.end();
          if (end === 'given up') track.transcriber.giveUp('shutdown');
          await settle();
          call.tell();
          conversation.session.close();
          expect(call.prompts.join(' ')).toBe(track.words.join(' '));
          if (end === 'track') expect(track.words).toEqual(Array.from({ length: call.said }, (_, n) => `w${n + 1}`));
          expectTurnsToFollow(call, end !== 'hang-up');
          track.transcriber.close();
          await settle();
          expect([track.engine.pending, track.clock.pending, conversation.failures]).toEqual([0, 0, []]);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('words that are understood only together with others', () => {
  const SET = { TURN_EARLY_ABOVE: 1, JOIN_MS: 3000, MAX_UTTERANCE_MS: 12_000 };

  /** Two turns, the second one without words by itself; the reading of both takes `readingMs`. */
  async function talk(readingMs: number, unheard: string): Promise<Call> {
    const call = new Call(SET, [0.95]);
    const { engine } = call.track;
    const { hear } = engine;
    const transcribe = engine.transcribe.bind(engine);
    engine.transcribe = (request) => {
      engine.transcribeMs = request.timed === true ? readingMs : 0;
      return transcribe(request);
    };
    engine.hear = (request) => {
      const heard = hear(request);
      return request.timed !== true && heard.text.toLowerCase().startsWith(unheard) ? { text: '' } : heard;
    };
    await call.say(3);
    await call.pause(900);
    await call.say(3);
    await call.pause(1500);
    return call;
  }

  it('are the prompt of their turn, which waits for them', async () => {
    const call = await talk(60, 'w4');
    expect(call.prompts).toEqual(['w1 w2 w3', 'w4 w5 w6']);
  });

  it('are a prompt when they come behind the end of the turn', async () => {
    const call = await talk(700, 'w4');
    expect(call.prompts).toEqual(['w1 w2 w3', 'w4 w5 w6']);
  });

  it('are a prompt, too, when partials were shown and the final took them back', async () => {
    const call = new Call(SET, [0.95]);
    const { engine } = call.track;
    const { hear } = engine;
    engine.hear = (request) => {
      const heard = hear(request);
      const isUnheard = request.timed !== true && request.urgency !== 'partial' && /^w4/iu.test(heard.text);
      return isUnheard ? { text: '' } : heard;
    };
    await call.say(3);
    await call.pause(900);
    await call.say(3);
    await call.pause(1500);
    expect(call.track.finals.map(({ text }) => text.toLowerCase())).toEqual(['w1 w2 w3.', '']);
    expect(call.prompts).toEqual(['w1 w2 w3', 'w4 w5 w6']);
  });

  it('are in the next prompt when they were said before it', async () => {
    const call = await talk(60, 'w1');
    expect(call.prompts).toEqual(['w1 w2 w3 w4 w5 w6']);
  });
});

/** Turns take each utterance once, and come behind its final. */
function expectTurnsToFollow({ track }: Call, isOver: boolean): void {
  let last = 0;
  track.events.forEach((event, index) => {
    if (event.type !== 'turn.ended') return;
    expect(event.first).toBe(last + 1);
    last = event.last;
    const late = track.events.slice(index).filter((later) => later.type === 'caption' && later.utterance <= last);
    expect(late).toEqual([]);
  });
  const utterances = Math.max(0, ...track.captions.map(({ utterance }) => utterance));
  if (isOver) expect(last).toBeGreaterThanOrEqual(utterances);
}
