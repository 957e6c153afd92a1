import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EndpointDecision, Endpointer, type EndpointerSettings } from '../../src/transcription/endpointer.ts';
import { settingsWith } from './transcriber-harness.ts';

const WINDOW = 512;

/**
 * `'0.9x3 0x7'` → three windows at 0.9, seven at 0. Each decision comes with the number of windows examined by then.
 */
function decide(
  script: string,
  changes: Partial<EndpointerSettings> = {},
): { after: number; decision: EndpointDecision }[] {
  const endpointer = new Endpointer(settingsWith(changes));
  return windows(script).flatMap((probability, n) => {
    const decision = endpointer.vad(probability);
    return decision === null ? [] : [{ after: n + 1, decision }];
  });
}

function windows(script: string): number[] {
  return script.split(' ').flatMap((item) => {
    const [probability, count] = item.split('x').map(Number);
    return new Array<number>(count ?? 1).fill(probability ?? 0);
  });
}

const kinds = (script: string, changes: Partial<EndpointerSettings> = {}): string[] =>
  decide(script, changes).map(({ after, decision }) => `${decision.kind}@${after}`);

describe('Endpointer', () => {
  it.each([
    ['silence', '0x100', []],
    ['a single loud window', '0x5 0.9 0x50', []],
    ['loud windows that never come twice in a row', '0.9 0 0.9 0 0.9 0 0x50', []],
    ['windows just below the start threshold', '0.49x50', []],
    ['speech with a full pause', '0x5 0.9x10 0x13', ['started@7', 'paused@21', 'ended@28']],
    ['speech that stays between the thresholds', '0.9x2 0.36x50', ['started@2']],
    ['a gap shorter than EAGER_MS', '0.9x10 0x5 0.9x5', ['started@2']],
    ['speech resumed after a pause', '0.9x10 0x6 0.9x10', ['started@2', 'paused@16', 'resumed@17']],
    [
      'two pauses in one utterance',
      '0.9x10 0x8 0.9x10 0x13',
      ['started@2', 'paused@16', 'resumed@19', 'paused@34', 'ended@41'],
    ],
    ['two utterances', '0.9x10 0x13 0.9x10', ['started@2', 'paused@16', 'ended@23', 'started@25']],
  ])('%s', (_, script, expected) => {
    expect(kinds(script)).toEqual(expected);
  });

  it('waits for MIN_SPEECH_MS of unbroken speech', () => {
    expect(kinds('0.9x4 0 0.9x5', { MIN_SPEECH_MS: 160 })).toEqual(['started@10']);
  });

  it('goes straight to the end when EAGER_MS is not shorter than ENDPOINT_MS', () => {
    expect(kinds('0.9x5 0x13', { EAGER_MS: 400 })).toEqual(['started@2', 'ended@18']);
  });

  it('begins the utterance PRE_ROLL_MS before the first speech window', () => {
    expect(decide('0x20 0.9x2')[0]?.decision).toEqual({
      kind: 'started',
      from: 20 * WINDOW - 1600,
      speechFrom: 20 * WINDOW,
    });
  });

  it('does not reach back before the track began', () => {
    expect(decide('0x2 0.9x2')[0]?.decision).toMatchObject({ from: 0 });
  });

  it('names the same stretch in the pause and at the end, POST_ROLL_MS behind the speech', () => {
    const expected = { speechTo: 10 * WINDOW, to: 10 * WINDOW + 1600 };
    const [, paused, ended] = decide('0.9x10 0x13');
    expect(paused?.decision).toEqual({ kind: 'paused', ...expected });
    expect(ended?.decision).toEqual({ kind: 'ended', ...expected });
  });

  it('declares no pause before a long post-roll is there', () => {
    const decisions = decide('0.9x10 0x13', { POST_ROLL_MS: 320 });
    expect(decisions.map(({ after }) => after)).toEqual([2, 20, 23]);
    expect(decisions[1]?.decision).toMatchObject({ to: 10 * WINDOW + 5120 });
  });

  it('never lets the pre-roll reach into the previous utterance', () => {
    const decisions = decide('0.9x10 0x4 0.9x10', { ENDPOINT_MS: 128, POST_ROLL_MS: 128, PRE_ROLL_MS: 300 });
    expect(decisions.at(-2)?.decision).toMatchObject({ kind: 'ended', to: 14 * WINDOW });
    expect(decisions.at(-1)?.decision).toMatchObject({ kind: 'started', from: 14 * WINDOW, speechFrom: 14 * WINDOW });
  });

  it('never lets the pre-roll reach behind a cut', () => {
    const endpointer = new Endpointer(settingsWith({ PRE_ROLL_MS: 300, ENDPOINT_MS: 100, POST_ROLL_MS: 0 }));
    for (const probability of windows('0.9x10')) endpointer.vad(probability);
    endpointer.cut(10 * WINDOW);
    const decisions = windows('0x4 0.9x2').map((probability) => endpointer.vad(probability));
    expect(decisions.at(-1)).toMatchObject({ kind: 'started', from: 10 * WINDOW });
  });

  it('ends a running utterance when told to, with no more post-roll than there is audio', () => {
    const endpointer = new Endpointer(settingsWith());
    for (const probability of windows('0.9x10')) endpointer.vad(probability);
    expect(endpointer.close(10 * WINDOW + 100)).toEqual({ speechTo: 10 * WINDOW, to: 10 * WINDOW + 100 });
    expect(endpointer.close(10 * WINDOW + 100)).toBeNull();
  });

  it('remembers the probabilities of the last windows', () => {
    const endpointer = new Endpointer(settingsWith());
    for (let n = 0; n < 300; n++) endpointer.vad(n % 2);
    expect([endpointer.probabilityAt(298 * WINDOW + 5), endpointer.probabilityAt(299 * WINDOW)]).toEqual([0, 1]);
  });

  it('gives utterances that follow each other in order and never overlap, whatever the probabilities', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 0.4, 0.9), { maxLength: 400 }), (probabilities) => {
        const endpointer = new Endpointer(settingsWith({ MIN_SPEECH_MS: 32, PRE_ROLL_MS: 300 }));
        let state = 'ended';
        let end = 0;
        for (const probability of probabilities) {
          const decision = endpointer.vad(probability);
          if (decision === null) continue;
          const allowed: Record<string, string[]> = {
            ended: ['started'],
            started: ['paused', 'ended'],
            paused: ['resumed', 'ended'],
            resumed: ['paused', 'ended'],
          };
          expect(allowed[state]).toContain(decision.kind);
          state = decision.kind;
          if (decision.kind === 'started') {
            expect(decision.from).toBeGreaterThanOrEqual(end);
            expect(decision.speechFrom).toBeGreaterThanOrEqual(decision.from);
          }
          if (decision.kind === 'ended') {
            expect(decision.to).toBeLessThanOrEqual(endpointer.detectedTo);
            end = decision.to;
          }
        }
      }),
    );
  });

  describe('beside the level of the speaker', () => {
    const FAR = { isFar: true, isSoft: true, isAmidOthers: true };
    const NEAR = { isFar: false, isSoft: false, isAmidOthers: true };
    const run = (...parts: readonly (readonly [number, typeof FAR])[]) => {
      const endpointer = new Endpointer(settingsWith());
      return parts
        .flatMap(([count, level]) => new Array<typeof FAR>(count).fill(level))
        .flatMap((level, n) => {
          const decision = endpointer.vad(0.9, level);
          return decision === null ? [] : [{ after: n + 1, decision }];
        });
    };

    it('does not begin with speech far below it', () => {
      expect(run([100, FAR])).toEqual([]);
    });

    it('begins where speech is as loud, and not where others began before', () => {
      const [{ after, decision } = { after: 0, decision: null }] = run([100, FAR], [10, NEAR]);
      expect(after).toBe(101);
      expect(decision).toMatchObject({ kind: 'started', speechFrom: 98 * WINDOW });
    });

    it('begins with its soft beginning', () => {
      const [first] = run([5, FAR], [10, NEAR]);
      expect(first?.decision).toMatchObject({ kind: 'started', speechFrom: 0 });
    });

    it('ends although others talk on, from the last loud word and its tail on', () => {
      const found = run([30, NEAR], [30, FAR]);
      expect(found.map(({ decision }) => decision.kind)).toEqual(['started', 'paused', 'ended']);
      expect(found[2]?.decision).toMatchObject({ speechTo: 34 * WINDOW });
      expect(found[2]?.after).toBe(47);
    });

    it('takes longer to believe in others where none have spoken, and takes the end of a word for none', () => {
      const alone = { ...FAR, isAmidOthers: false };
      expect(run([30, NEAR], [19, alone], [5, NEAR]).map(({ decision }) => decision.kind)).toEqual(['started']);
      expect(run([30, NEAR], [21, alone]).map(({ decision }) => decision.kind)).toEqual(['started', 'ended']);
    });
  });
});
