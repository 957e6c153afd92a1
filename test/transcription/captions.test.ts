import { describe, expect, it } from 'vitest';
import { Captions } from '../../src/transcription/captions.ts';

const said = (stable: string, tail: string): { stable: string; tail: string; text: string } => ({
  stable,
  tail,
  text: stable + tail,
});

describe('captions', () => {
  it('count ms of the call from the origin of the track, rounded', () => {
    const captions = new Captions(100.4);
    expect(captions.speech('speech.started', 8)).toEqual({ type: 'speech.started', atMs: 101 });
    const caption = captions.open(512).partial(said('a', ' b'), 1600, 85.6);
    expect(caption).toEqual({
      type: 'caption',
      utterance: 1,
      stable: 'a',
      tail: ' b',
      text: 'a b',
      final: false,
      startMs: 132,
      endMs: 200,
      lagMs: 86,
    });
  });

  it('number utterances from 1', () => {
    const captions = new Captions(0);
    captions.open(0);
    expect(captions.open(10).final(said('a', ''), 20, 0)?.utterance).toBe(2);
  });

  it('show no partial that is empty, noise or old', () => {
    const utterance = new Captions(0).open(0);
    expect(utterance.partial(said('', ''), 10, 0)).toBeNull();
    expect(utterance.partial(said('', '...'), 10, 0)).toBeNull();
    expect(utterance.partial(said('', 'a b'), 10, 0)).not.toBeNull();
    expect(utterance.partial(said('', 'a b'), 20, 0)).toBeNull();
    expect(utterance.partial(said('a', ' b'), 20, 0)).not.toBeNull();
  });

  it('say nothing at all of an utterance without words', () => {
    expect(new Captions(0).open(0).final(said('', ' -. '), 10, 0)).toBeNull();
  });

  it('end partials that were shown with a final, even an empty one that keeps their stable words', () => {
    const utterance = new Captions(0).open(0);
    utterance.partial(said('a', ' b'), 10, 0);
    expect(utterance.final({ stable: 'a', tail: '', text: '' }, 20, 0)).toMatchObject({
      stable: 'a',
      tail: '',
      text: '',
      final: true,
    });
  });
});
