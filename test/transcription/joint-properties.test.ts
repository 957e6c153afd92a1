/** Whatever is said and whatever fails: one final for each utterance, and its versions are one reading of the words. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../fakes/clock.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { TranscriberHarness } from './transcriber-harness.ts';

const RUNS = 150;

type Step =
  | { readonly words: number; readonly pauseMs: number }
  | { readonly transcribeMs: number }
  | { readonly load: number }
  | { readonly isFailing: boolean }
  | { readonly loss: true }
  | { readonly stall: true };

const steps = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      words: fc.integer({ min: 1, max: 9 }),
      pauseMs: fc.constantFrom(100, 450, 700, 1500, 2900, 3300, 5000),
    }),
  },
  fc.record({ transcribeMs: fc.constantFrom(0, 60, 400, 1500) }),
  fc.record({ load: fc.constantFrom(0, 0.6, 0.9) }),
  fc.record({ isFailing: fc.boolean() }),
  fc.constant({ loss: true } as const),
  fc.constant({ stall: true } as const),
);

class Talk {
  readonly harness: TranscriberHarness;
  said = 0;

  /** @param unheard an utterance whose first word has this number, modulo 4, has no text by itself */
  constructor(unheard: number) {
    this.harness = new TranscriberHarness({ settings: { JOIN_MS: 3000, MAX_UTTERANCE_MS: 4000 }, partials: false });
    const { engine } = this.harness;
    const { hear } = engine;
    engine.hear = (request) => {
      const heard = hear(request);
      const first = Number(/\d+/.exec(heard.text)?.[0] ?? 0);
      return request.timed !== true && first % 4 === unheard ? { text: '' } : heard;
    };
  }

  async act(step: Step): Promise<void> {
    const { engine, transcriber } = this.harness;
    if ('words' in step) {
      const words = Array.from({ length: step.words }, (_, n) => this.said + n + 1);
      this.said += step.words;
      await this.harness.say(concat(spoken(words), silence(step.pauseMs)));
    } else if ('transcribeMs' in step) engine.transcribeMs = step.transcribeMs;
    else if ('load' in step) engine.load = step.load;
    else if ('isFailing' in step) engine.failure = step.isFailing ? 'model_failed' : null;
    else if ('loss' in step) transcriber.noteLoss();
    else transcriber.stall(this.harness.clock.nowMs());
    await settle();
  }

  /** What readers have in the end, in the order of the utterances. */
  get words(): number[] {
    const texts = new Map(this.harness.finals.map(({ utterance, text }) => [utterance, text]));
    for (const { utterance, text } of this.harness.revisions) texts.set(utterance, text);
    return [...texts]
      .sort(([a], [b]) => a - b)
      .flatMap(([, text]) => [...text.matchAll(/\d+/gu)].map(([number]) => Number(number)));
  }
}

describe('utterances that are read together', () => {
  it('have one final each, in order, versions that count on, and no word lost or doubled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { maxLength: 14 }),
        fc.constantFrom(0, 1, 9),
        fc.constantFrom('end', 'give up', 'close'),
        async (acts, unheard, ending) => {
          const talk = new Talk(unheard);
          const { harness } = talk;
          for (const act of acts) await talk.act(act);
          harness.engine.failure = null;
          if (ending === 'end') await harness.end();
          else if (ending === 'give up') harness.transcriber.giveUp('shutdown');
          else harness.transcriber.close();
          const { length } = harness.events;
          await harness.clock.run(5000);
          expect(harness.events.length, 'events after the end').toBe(length);

          const finals = harness.finals.map(({ utterance }) => utterance);
          expect(finals).toEqual([...new Set(finals)].sort((a, b) => a - b));
          const versions = new Map(finals.map((utterance) => [utterance, 1]));
          for (const event of harness.events) {
            if (event.type !== 'revision') continue;
            expect(event.version).toBe((versions.get(event.utterance) ?? Number.NaN) + 1);
            versions.set(event.utterance, event.version);
          }
          expect(talk.words).toEqual([...new Set(talk.words)].sort((a, b) => a - b));
          const isWhole = ending === 'end' && unheard === 9 && harness.gaps.length === 0;
          if (isWhole) expect(talk.words).toEqual(Array.from({ length: talk.said }, (_, n) => n + 1));
        },
      ),
      { numRuns: RUNS },
    );
  });
});
