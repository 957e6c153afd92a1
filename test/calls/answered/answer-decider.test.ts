/** Events and levels by hand, on a clock by hand. */
import { describe, expect, it } from 'vitest';
import { AnswerDecider, type AnswerVerdict } from '../../../src/calls/answered/answer-decider.ts';

const STEP_MS = 20;
const LOUD_DB = -20;
const QUIET_DB = -70;
/** How long after its end the voice detection tells that speech is over. */
const ENDPOINT_MS = 400;

/** Somebody says this from `fromMs` to `toMs`. `text` = what the recogniser makes of it; null = nothing. */
interface Spoken {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string | null;
  /** The voice detection takes what follows for speech, too. */
  readonly isNotNoticed?: boolean;
}

interface Line {
  readonly spoken?: readonly Spoken[];
  readonly noiseDb?: number;
  readonly beepAtMs?: number;
  /** Partial captions come, each 500 ms, with so much of the text. */
  readonly partials?: boolean;
}

/** When it is known who answers, and who that is. */
function listen({ spoken = [], noiseDb = QUIET_DB, beepAtMs, partials = true }: Line) {
  const decider = new AnswerDecider();
  const caption = { type: 'caption', utterance: 1, stable: '', tail: '', startMs: 0, endMs: 0, lagMs: 0 } as const;
  for (let nowMs = STEP_MS; nowMs < 20_000; nowMs += STEP_MS) {
    const now = spoken.find(({ fromMs, toMs }) => fromMs < nowMs && nowMs <= toMs);
    decider.onLevel(now === undefined ? noiseDb : LOUD_DB, nowMs);
    for (const { fromMs, toMs, text, isNotNoticed = false } of spoken) {
      if (nowMs === fromMs + 100) decider.onSpeech({ type: 'speech.started', atMs: fromMs });
      if (partials && text !== null && nowMs > fromMs && nowMs < toMs && (nowMs - fromMs) % 500 === 0)
        decider.onSpeech({
          ...caption,
          final: false,
          text: text.slice(0, (text.length * (nowMs - fromMs)) / (toMs - fromMs)),
        });
      if (nowMs !== toMs + ENDPOINT_MS || isNotNoticed) continue;
      decider.onSpeech({ type: 'speech.stopped', atMs: toMs });
      if (text !== null) decider.onSpeech({ ...caption, final: true, text });
    }
    if (nowMs === beepAtMs) decider.onTone('beep');
    const verdict: AnswerVerdict | null = decider.verdictAt(nowMs);
    if (verdict !== null) return { ...verdict, atMs: nowMs };
  }
  return null;
}

describe('who answers', () => {
  it('is a person who says hello and waits, 700 ms after that', () => {
    const found = listen({ spoken: [{ fromMs: 800, toMs: 1300, text: 'Hello?' }] });
    expect(found).toEqual({ by: 'person', reason: 'words', atMs: 2000 });
  });

  it('is a person who says something else and waits, nearly a second after that', () => {
    const found = listen({ spoken: [{ fromMs: 800, toMs: 1800, text: 'Peter Miller.' }] });
    expect(found).toEqual({ by: 'person', reason: 'pause', atMs: 2720 });
  });

  it('is a person whose words the recogniser does not know', () => {
    expect(listen({ spoken: [{ fromMs: 800, toMs: 1300, text: null }] })).toMatchObject({ by: 'person', atMs: 2220 });
  });

  it('is a person who speaks slowly', () => {
    const spoken = [
      { fromMs: 800, toMs: 1400, text: 'This is' },
      { fromMs: 2100, toMs: 3200, text: 'Margaret Hill.' },
    ];
    expect(listen({ spoken })).toMatchObject({ by: 'person', atMs: 4120 });
  });

  it('is a person whose pauses make it long', () => {
    const spoken = [
      { fromMs: 500, toMs: 1300, text: 'One second' },
      { fromMs: 2000, toMs: 2900, text: 'I am just' },
      { fromMs: 3600, toMs: 5000, text: 'finding my glasses' },
    ];
    expect(listen({ spoken })).toMatchObject({ by: 'person', atMs: 5920 });
  });

  it('is a person who says the name of a company, their own, and asks', () => {
    const text = 'Thank you for calling Brightwater Insurance, this is Helen, how may I help you?';
    expect(listen({ spoken: [{ fromMs: 500, toMs: 5300, text }] })).toMatchObject({ by: 'person', atMs: 6000 });
  });

  it('is a person in a loud place, where the noise counts as speech', () => {
    const spoken = [{ fromMs: 800, toMs: 1300, text: 'Hello?', isNotNoticed: true }];
    expect(listen({ spoken, noiseDb: -38 })).toMatchObject({ by: 'person', atMs: 2220 });
  });

  it('is a machine by its words, before it has finished', () => {
    const text = 'You have reached the voicemail of Anna Brown. Please leave a message.';
    const found = listen({ spoken: [{ fromMs: 500, toMs: 5500, text }] });
    expect(found).toMatchObject({ by: 'machine', reason: 'words' });
    expect(found?.atMs).toBeLessThan(2600);
  });

  it('is a machine that says hello first and goes on within the pause of a person', () => {
    const spoken = [
      { fromMs: 500, toMs: 900, text: 'Hello!' },
      { fromMs: 1500, toMs: 4500, text: 'We are not at home, please leave a message.' },
    ];
    expect(listen({ spoken })).toMatchObject({ by: 'machine' });
  });

  it('is a machine by its length, whatever it says', () => {
    const found = listen({ spoken: [{ fromMs: 500, toMs: 9000, text: null }] });
    expect(found).toEqual({ by: 'machine', reason: 'length', atMs: 4120 });
  });

  it('is a machine that beeps within the pause that a person makes', () => {
    const found = listen({ spoken: [{ fromMs: 500, toMs: 1500, text: 'Its Jenny' }], beepAtMs: 2300 });
    expect(found).toEqual({ by: 'machine', reason: 'beep', atMs: 2300 });
  });

  it('is not known where nobody speaks, later where a sound is there', () => {
    expect(listen({})).toEqual({ by: 'unknown', reason: 'silence', atMs: 4000 });
    expect(listen({ noiseDb: -35 })).toEqual({ by: 'unknown', reason: 'silence', atMs: 8000 });
  });

  it('is not known by a click', () => {
    const spoken = [{ fromMs: 300, toMs: 400, text: null }];
    expect(listen({ spoken })).toEqual({ by: 'unknown', reason: 'silence', atMs: 4000 });
  });

  it('is the person who speaks after a click', () => {
    const spoken = [
      { fromMs: 300, toMs: 400, text: null },
      { fromMs: 2500, toMs: 3000, text: 'Hello?' },
    ];
    expect(listen({ spoken })).toMatchObject({ by: 'person', atMs: 3700 });
  });

  it('is not known before words that come late, which would cut our voice off', () => {
    const decider = new AnswerDecider();
    const caption = { type: 'caption', utterance: 1, stable: '', tail: '', startMs: 0, endMs: 0, lagMs: 0 } as const;
    for (let ms = STEP_MS; ms <= 3000; ms += STEP_MS) decider.onLevel(ms > 800 && ms <= 1300 ? LOUD_DB : QUIET_DB, ms);
    decider.onSpeech({ type: 'speech.started', atMs: 800 });
    decider.onSpeech({ type: 'speech.stopped', atMs: 1300 });
    expect(decider.verdictAt(3000)).toBeNull();
    decider.onSpeech({ ...caption, final: true, text: 'Hello?' });
    expect(decider.verdictAt(3000)).toEqual({ by: 'person', reason: 'words' });
  });
});
