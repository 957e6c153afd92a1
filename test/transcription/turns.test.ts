/** Turns of a live track: held, continued, ended early or with their utterance. */
import { describe, expect, it } from 'vitest';
import { settle } from '../fakes/clock.ts';
import { concat, silence, spoken } from '../fakes/engine.ts';
import { Listening, near } from './turn-listening.ts';

describe('a turn', () => {
  it('ends with its utterance when the model hears an end, right behind the final', async () => {
    const caller = new Listening();
    await caller.say(1, 2, 3);
    await caller.pause(1000);
    expect(caller.turns).toEqual([[1, 1]]);
    expect(caller.waitedMs).toEqual(near(400));
    expect(caller.track.events.slice(-2).map(({ type }) => type)).toEqual(['caption', 'turn.ended']);
    expect(caller.noted).toEqual(['answered', 'endpoint']);
  });

  it('is held when the model hears a pause, and ends without a wait for text', async () => {
    const caller = new Listening([0.1]);
    await caller.say(1, 2);
    await caller.pause(500);
    expect([caller.track.finals.length, caller.turns]).toEqual([1, []]);
    await caller.pause(600);
    expect(caller.turns).toEqual([[1, 1]]);
    expect(caller.waitedMs).toEqual(near(900));
    expect(caller.noted).toEqual(['answered', 'held']);
  });

  it('goes on with what is said while it is held', async () => {
    const caller = new Listening([0.1]);
    await caller.say(1, 2);
    await caller.pause(800);
    await caller.say(3, 4);
    await caller.pause(500);
    expect(caller.turns).toEqual([[1, 2]]);
    expect(caller.noted).toEqual(['answered', 'continued', 'answered', 'endpoint']);
  });

  it('is not ended under the first sound of what follows', async () => {
    const caller = new Listening([0.1], { MIN_SPEECH_MS: 256 });
    await caller.track.say(spoken([1], { wordMs: 600 }));
    await caller.pause(760);
    await caller.track.say(spoken([4], { wordMs: 600 }));
    await caller.pause(500);
    expect(caller.turns).toEqual([[1, 2]]);
  });

  it('is given to the model with all its utterances, at most 8 s, once in each pause', async () => {
    const caller = new Listening([0.1, 0.1, 0.1]);
    const { engine } = caller.track;
    for (let n = 0; n < 3; n++) {
      await caller.say(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
      await caller.pause(700);
    }
    const lengthsMs = engine.turns.map(({ samples }) => samples.length / 16);
    expect(lengthsMs).toEqual([near(12 * 250 + 192 - 50), near(2 * (12 * 250 - 50) + 700 + 192), 8000]);
    for (const { samples, dueInMs } of engine.turns) {
      const quiet = samples.toReversed().findIndex((sample) => sample !== 0) / 16;
      expect([quiet, dueInMs]).toEqual([{ asymmetricMatch: (ms: number) => ms >= 150 && ms <= 225 }, 708]);
    }
  });

  it('can end at once when the model is sure, with its caption', async () => {
    const caller = new Listening([0.97], { TURN_EARLY_ABOVE: 0.95 });
    await caller.say(1, 2);
    await caller.pause(300);
    expect([caller.track.finals.map(({ text }) => text), caller.turns]).toEqual([['W1 w2.'], [[1, 1]]]);
    expect(caller.waitedMs).toEqual(near(192));
    await caller.say(3);
    await caller.pause(500);
    expect([caller.turns, caller.track.words]).toEqual([
      [
        [1, 1],
        [2, 2],
      ],
      ['w1', 'w2', 'w3'],
    ]);
    expect(caller.noted).toEqual(['answered', 'early', 'answered', 'early']);
  });

  it('is held for no longer than a minute', async () => {
    const caller = new Listening(new Array<number>(200).fill(0));
    for (let n = 0; n < 40; n++) {
      await caller.say(1, 2, 3, 4);
      await caller.pause(800);
    }
    const [[first, last] = [0, 0]] = caller.turns;
    expect(first).toBe(1);
    expect(last * 1750).toEqual({ asymmetricMatch: (ms: number) => ms > 60_000 && ms < 64_000 });
  });

  it('goes on over the cuts of long speech', async () => {
    const caller = new Listening();
    await caller.say(...Array.from({ length: 100 }, (_, n) => n + 1));
    await caller.pause(1000);
    expect(caller.track.finals.length).toBeGreaterThan(2);
    expect(caller.turns).toEqual([[1, caller.track.finals.length]]);
  });
});

describe('a turn of several utterances that are read together again', () => {
  /** The joint reading takes `ms` and knows better what the second word was. */
  async function readAgainAfter(ms: number): Promise<Listening> {
    const caller = new Listening([0.1], { JOIN_MS: 1200 });
    const { engine } = caller.track;
    const { hear } = engine;
    const transcribe = engine.transcribe.bind(engine);
    engine.transcribe = (request) => {
      engine.transcribeMs = request.timed === true ? ms : 0;
      return transcribe(request);
    };
    engine.hear = (request) => {
      const { text } = hear(request);
      return { text: request.timed === true ? text.replace('w2', 'w9') : text };
    };
    await caller.say(1, 2);
    await caller.pause(700);
    await caller.say(3);
    await caller.pause(1500);
    return caller;
  }

  it('ends behind the better texts', async () => {
    const caller = await readAgainAfter(300);
    expect(caller.track.events.slice(-3).map(({ type }) => type)).toEqual(['revision', 'revision', 'turn.ended']);
    expect(caller.waitedMs).toEqual(near(500));
  });

  it('does not wait for texts that were read in the pause', async () => {
    const caller = await readAgainAfter(180);
    expect(caller.track.events.slice(-3).map(({ type }) => type)).toEqual(['revision', 'revision', 'turn.ended']);
    expect(caller.waitedMs).toEqual(near(400));
    expect(caller.track.engine.transcribed.filter(({ timed }) => timed)).toHaveLength(1);
  });

  it('does not wait for them for long', async () => {
    const caller = await readAgainAfter(900);
    expect(caller.track.events.slice(-3).map(({ type }) => type)).toEqual(['turn.ended', 'revision', 'revision']);
    expect([caller.turns, caller.waitedMs]).toEqual([[[1, 2]], near(650)]);
  });

  it('are read once more when speech went on behind the pause', async () => {
    const caller = new Listening([0.1], { JOIN_MS: 1200 });
    const { engine } = caller.track;
    await caller.say(1, 2);
    await caller.pause(700);
    await caller.say(3);
    await caller.pause(300);
    await caller.say(4);
    await caller.pause(500);
    const read = engine.transcribed.filter(({ timed }) => timed);
    expect(read.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
    expect(caller.turns).toEqual([[1, 2]]);
    expect(caller.track.words).toEqual(['w1', 'w2', 'w3', 'w4']);
  });
});

describe('without an answer of the turn model, a turn ends as its utterance does', () => {
  const END_AT_ENDPOINT = [near(400), [[1, 1]]];

  it.each([
    ['there is none', (caller: Listening) => Object.assign(caller.track.engine, { turnModel: null }), ['endpoint']],
    ['nobody waits for it', (caller: Listening) => Object.assign(caller, { wanted: false }), ['endpoint']],
    ['it is late', (caller: Listening) => Object.assign(caller.track.engine, { turnMs: 300 }), ['late', 'endpoint']],
    [
      'it fails',
      (caller: Listening) =>
        Object.assign(caller.track.engine, {
          turn: (request: object) => {
            caller.track.engine.failure = 'model_failed';
            const answer = Object.getPrototypeOf(caller.track.engine).turn.call(caller.track.engine, request);
            queueMicrotask(() => queueMicrotask(() => Object.assign(caller.track.engine, { failure: null })));
            return answer;
          },
        }),
      ['failed', 'endpoint'],
    ],
  ])('%s', async (_, prepare, noted) => {
    const caller = new Listening([0, 0]);
    prepare(caller);
    await caller.say(1, 2);
    await caller.pause(600);
    expect([caller.waitedMs, caller.turns]).toEqual(END_AT_ENDPOINT);
    expect(caller.noted).toEqual(noted);
  });

  it('at each cut of long speech, too', async () => {
    const caller = new Listening();
    caller.track.engine.turnModel = null;
    await caller.say(...Array.from({ length: 60 }, (_, n) => n + 1));
    await caller.pause(1000);
    expect(caller.turns).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(caller.noted).toEqual(['cut', 'endpoint']);
  });

  it('when the windows come too late to ask in time', async () => {
    const caller = new Listening([0, 0]);
    await caller.track.pour(concat(spoken([1, 2]), silence(1000)));
    await settle();
    expect([caller.turns, caller.track.engine.turns]).toEqual([[[1, 1]], []]);
  });
});

describe('an answer of the turn model behind the endpoint', () => {
  /** The model takes `turnMs`, the recogniser `transcribeMs`. */
  async function sayWhere(turnMs: number, transcribeMs: number): Promise<Listening> {
    const caller = new Listening([0.1]);
    await caller.say(1);
    Object.assign(caller.track.engine, { turnMs, transcribeMs });
    await caller.say(2);
    await caller.pause(1500);
    return caller;
  }

  it('counts while the final is not out either', async () => {
    const caller = await sayWhere(300, 400);
    expect([caller.turns, caller.noted]).toEqual([[[1, 1]], ['answered', 'held']]);
    expect(caller.waitedMs).toEqual(near(900));
  });

  it('is not waited for when it is', async () => {
    const caller = await sayWhere(400, 300);
    expect([caller.turns, caller.noted]).toEqual([[[1, 1]], ['late', 'endpoint']]);
    expect(caller.waitedMs).toEqual(near(500));
  });
});

describe('a turn that is held when its sound ends', () => {
  it('is held by the clock when the carrier sends nothing more', async () => {
    const caller = new Listening([0.1]);
    const { clock, transcriber } = caller.track;
    await caller.say(1, 2);
    await caller.pause(300);
    const sinceMs = clock.nowMs();
    await clock.run(400);
    transcriber.stall(sinceMs);
    await settle();
    expect([caller.track.finals.length, caller.turns]).toEqual([1, []]);
    await clock.run(300);
    expect([caller.turns, caller.noted]).toEqual([[[1, 1]], ['answered', 'held']]);
    expect(caller.waitedMs).toEqual(near(900));
  });

  it('goes on when the carrier sends sound again in time', async () => {
    const caller = new Listening([0.1]);
    const { clock, transcriber } = caller.track;
    await caller.say(1, 2);
    await caller.pause(300);
    const sinceMs = clock.nowMs();
    await clock.run(500);
    transcriber.stall(sinceMs);
    await settle();
    await caller.say(3, 4);
    await caller.pause(500);
    expect(caller.turns).toEqual([[1, 2]]);
    await clock.run(2000);
    expect(caller.turns).toEqual([[1, 2]]);
  });

  it('is over when the carrier has sent nothing for longer than that', async () => {
    const caller = new Listening([0.1]);
    const { clock, transcriber } = caller.track;
    await caller.say(1, 2);
    await caller.pause(300);
    const sinceMs = clock.nowMs();
    await clock.run(750);
    transcriber.stall(sinceMs);
    await settle();
    expect([caller.turns, caller.noted]).toEqual([[[1, 1]], ['answered', 'held']]);
  });

  it('is over with the track', async () => {
    const caller = new Listening([0.1]);
    await caller.say(1, 2);
    await caller.pause(600);
    await caller.track.end();
    expect(caller.turns).toEqual([[1, 1]]);
  });

  it('is over when the transcriber gives up, behind what is known of its text', async () => {
    const caller = new Listening([0.1]);
    await caller.say(1, 2);
    await caller.pause(600);
    await caller.say(3, 4);
    caller.track.transcriber.giveUp('overload');
    expect(caller.track.events.filter(({ type }) => type === 'caption' || type === 'turn.ended').at(-1)).toMatchObject({
      type: 'turn.ended',
      first: 1,
      last: 2,
    });
  });

  it('leaves nothing behind when the transcriber is closed', async () => {
    const caller = new Listening([0.1]);
    caller.track.engine.turnMs = 100;
    await caller.say(1, 2);
    await caller.pause(220);
    expect(caller.track.engine.pending).toBe(1);
    caller.track.transcriber.close();
    await settle();
    expect([caller.track.engine.pending, caller.turns, caller.noted]).toEqual([0, [], []]);
  });
});
