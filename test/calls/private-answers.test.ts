/** What is told of a caller who answers a private question. */
import { describe, expect, it } from 'vitest';
import { PrivateAnswers } from '../../src/calls/private-answers.ts';
import type { Revision, SpeechEvent } from '../../src/transcription/live-transcriber.ts';

const caption = (utterance: number, final = true): Extract<SpeechEvent, { type: 'caption' }> => ({
  type: 'caption',
  utterance,
  stable: 'four two',
  tail: ' three',
  text: 'four two three',
  final,
  startMs: 0,
  endMs: 900,
  lagMs: 5,
  confidence: 0.9,
});

const revision = (utterance: number): Revision => ({
  type: 'revision',
  utterance,
  first: utterance,
  version: 2,
  text: 'four two three',
  startMs: 0,
  endMs: 900,
});

describe('private answers', () => {
  it('are told as hidden keys and as utterances without words, for as long as they are private', () => {
    const sound: boolean[] = [];
    const answers = new PrivateAnswers((isHidden) => void sound.push(isHidden));
    expect([answers.key('5'), answers.speech(caption(1))]).toEqual(['5', caption(1)]);
    for (const isOn of [true, true]) answers.set(isOn);
    expect(answers.key('5')).toBe('•');
    const { confidence: _confidence, ...hidden } = { ...caption(2), stable: '', tail: '', text: '' };
    expect(answers.speech(caption(2))).toEqual(hidden);
    expect(answers.speech({ type: 'speech.stopped', atMs: 900 })).toEqual({ type: 'speech.stopped', atMs: 900 });
    answers.set(false);
    expect(answers.key('5')).toBe('5');
    expect(answers.speech(caption(3))).toEqual(caption(3));
    expect(sound).toEqual([true, false]);
  });

  it('stay so when their final or a better text comes later', () => {
    const answers = new PrivateAnswers(() => undefined);
    answers.set(true);
    answers.speech(caption(4, false));
    answers.set(false);
    expect(answers.speech(caption(4))).toMatchObject({ text: '', stable: '', final: true });
    expect(answers.revision(revision(4))).toBeNull();
    expect(answers.revision(revision(5))).toEqual(revision(5));
  });
});
