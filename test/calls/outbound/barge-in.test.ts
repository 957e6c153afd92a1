import { describe, expect, it } from 'vitest';
import { BargeIn, type BargeInOptions, type Interruptible } from '../../../src/calls/outbound/barge-in.ts';
import { FakeClock } from '../../fakes/clock.ts';

const STOP_LAG_MS = 400;

/** A caller who listens to something, and what became of it. */
class Listening {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  playing: Interruptible | null = 'any';
  readonly bargeIn: BargeIn;

  constructor(options: Partial<BargeInOptions> = {}) {
    this.bargeIn = new BargeIn({
      allowed: 'any',
      confirmMs: 500,
      words: 1,
      stopLagMs: () => STOP_LAG_MS,
      clock: this.clock,
      playing: () => this.playing,
      pause: () => this.log.push('pause'),
      resume: () => this.log.push('resume'),
      interrupt: () => this.log.push('interrupt'),
      onOutcome: (outcome) => this.log.push(outcome),
      ...options,
    });
  }

  /**
   * The caller makes a sound of `durationMs`, of which nothing is understood unless `words` are given 200 ms after its
   * end.
   */
  sound(durationMs: number, words?: string): this {
    this.bargeIn.onSpeechStarted();
    this.clock.advance(durationMs + 200);
    if (words !== undefined) this.bargeIn.onWords(words);
    this.clock.advance(STOP_LAG_MS - 200);
    this.bargeIn.onSpeechStopped();
    return this;
  }
}

describe('a caller who speaks while something is said', () => {
  it('pauses it at once', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    expect(caller.log).toEqual(['pause']);
  });

  it('interrupts it with a first word', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.clock.advance(150);
    caller.bargeIn.onWords('Wait');
    expect(caller.log).toEqual(['pause', 'words', 'interrupt']);
    expect(caller.clock.pending).toBe(0);
  });

  it('interrupts it by speaking on, though nothing is understood', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.clock.advance(500 + STOP_LAG_MS - 1);
    expect(caller.log).toEqual(['pause']);
    caller.clock.advance(1);
    expect(caller.log).toEqual(['pause', 'duration', 'interrupt']);
  });

  it('interrupts it with speech that was long enough, once that has ended', () => {
    expect(new Listening().sound(499).log).toEqual(['pause', 'resumed', 'resume']);
    expect(new Listening({ confirmMs: 300 }).sound(300).log).toEqual(['pause', 'duration', 'interrupt']);
  });

  it('needs as many words as the setting says', () => {
    const caller = new Listening({ words: 3 });
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.onWords('I would');
    expect(caller.log).toEqual(['pause']);
    caller.bargeIn.onWords('I would like');
    expect(caller.log).toEqual(['pause', 'words', 'interrupt']);
  });

  it('lets it go on after a cough', () => {
    expect(new Listening().sound(180).log).toEqual(['pause', 'resumed', 'resume']);
  });

  it.each(['Mm-hm.', 'uh-huh', 'Yeah.', 'OK, yes', 'Mm hm, right.', 'Sure!'])(
    'lets it go on after "%s", however long that takes',
    (words) => {
      expect(new Listening().sound(600, words).log).toEqual(['pause', 'resumed', 'resume']);
    },
  );

  it('is heard when agreement turns out to be the beginning of more', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.onWords('Yeah');
    expect(caller.log).toEqual(['pause']);
    caller.bargeIn.onWords('Yeah but no');
    expect(caller.log).toEqual(['pause', 'words', 'interrupt']);
  });

  it('is heard when the word of a short sound is understood only after it', () => {
    const caller = new Listening().sound(250);
    caller.bargeIn.onWords('No.');
    expect(caller.log).toEqual(['pause', 'resumed', 'resume', 'words', 'interrupt']);
  });

  it('waits no longer than the time to confirm, even when the end of the speech is never told', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.onWords('mm-hm');
    caller.clock.advance(500 + STOP_LAG_MS);
    expect(caller.log).toEqual(['pause', 'resumed', 'resume']);
    expect(caller.clock.pending).toBe(0);
  });

  it('pauses what begins into speech', () => {
    const caller = new Listening();
    caller.playing = null;
    caller.bargeIn.onSpeechStarted();
    expect(caller.log).toEqual([]);
    caller.playing = 'any';
    caller.bargeIn.onPlaying();
    expect(caller.log).toEqual(['pause']);
  });

  it('does not touch what begins after the words that it answers', () => {
    const caller = new Listening();
    caller.playing = null;
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.onSpeechStopped();
    caller.playing = 'any';
    caller.bargeIn.onPlaying();
    caller.bargeIn.onWords('the late final of the question');
    caller.clock.advance(5000);
    expect(caller.log).toEqual([]);
  });

  it('interrupts once: what is said next is not cut off by the same speech', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.onWords('wait');
    caller.log.length = 0;
    caller.bargeIn.onPlaying();
    caller.bargeIn.onWords('wait a moment');
    caller.clock.advance(5000);
    expect(caller.log).toEqual([]);
  });

  it('does not interrupt what came to sound meanwhile and may not be interrupted', () => {
    const caller = new Listening();
    for (let n = 0; n < 3; n++) caller.sound(200);
    caller.log.length = 0;
    caller.bargeIn.onSpeechStarted();
    caller.playing = 'none';
    caller.clock.advance(5000);
    caller.bargeIn.onSpeechStopped();
    expect(caller.log).toEqual(['resumed', 'resume']);
  });

  it('comes too late when nothing sounds any more', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.forget();
    caller.playing = null;
    caller.clock.advance(5000);
    caller.bargeIn.onWords('hello');
    caller.bargeIn.onSpeechStopped();
    expect(caller.log).toEqual(['pause']);
  });
});

describe('an echo of our own voice', () => {
  it('lets playback go on, and the caller be heard in the same speech', () => {
    const caller = new Listening();
    caller.bargeIn.onSpeechStarted();
    caller.bargeIn.onEcho();
    expect(caller.log).toEqual(['pause', 'resumed', 'resume']);
    caller.bargeIn.onEcho();
    caller.clock.advance(5000);
    expect(caller.log).toHaveLength(3);
    caller.bargeIn.onWords('stop that');
    expect(caller.log.slice(3)).toEqual(['words', 'interrupt']);
  });

  it('does not make playback stutter: after three false alarms words alone interrupt', () => {
    const caller = new Listening();
    for (let n = 0; n < 3; n++) caller.sound(200);
    caller.log.length = 0;
    caller.bargeIn.onSpeechStarted();
    expect(caller.log).toEqual([]);
    caller.bargeIn.onWords('wait please');
    expect(caller.log).toEqual(['words', 'interrupt']);
    caller.bargeIn.onSpeechStarted();
    expect(caller.log).toEqual(['words', 'interrupt', 'pause']);
  });
});

describe('what may interrupt', () => {
  const settings: readonly Interruptible[] = ['none', 'dtmf', 'speech', 'any'];
  const both = settings.flatMap((allowed) => settings.map((playing) => [allowed, playing] as const));

  it.each(both)('in a call that allows %s, an utterance that allows %s', (allowed, playing) => {
    const fits = (means: string) => [allowed, playing].every((each) => each === 'any' || each === means);
    const speaking = new Listening({ allowed });
    speaking.playing = playing;
    speaking.bargeIn.onSpeechStarted();
    speaking.bargeIn.onWords('hello there');
    expect(speaking.log).toEqual(fits('speech') ? ['pause', 'words', 'interrupt'] : []);
    const pressing = new Listening({ allowed });
    pressing.playing = playing;
    pressing.bargeIn.onDigit();
    expect(pressing.log).toEqual(fits('dtmf') ? ['dtmf', 'interrupt'] : []);
  });
});
