/** Utterances of a call that are read again together. */
import { describe, expect, it } from 'vitest';
import type { RevisionEvent } from '../../src/calls/feed/events.ts';
import { EchoFilter } from '../../src/calls/inbound/echo-filter.ts';
import { type Gateway, startCalls } from './harness.ts';

const TOGETHER = {
  text: 'secret words, both of them.',
  words: [
    { text: 'secret', startMs: 50, endMs: 300 },
    { text: 'words,', startMs: 300, endMs: 600 },
    { text: 'both', startMs: 900, endMs: 1000 },
    { text: 'of', startMs: 1000, endMs: 1200 },
    { text: 'them.', startMs: 1200, endMs: 1400 },
  ],
};

/** A caller says something twice, and both together are understood otherwise. */
async function callWithPause(environment: Record<string, string> = {}): Promise<Gateway> {
  const gateway = startCalls(environment);
  const { hear } = gateway.engine;
  gateway.engine.hear = (request) => (request.timed === true ? TOGETHER : hear(request));
  const caller = gateway.dial().start();
  for (let n = 0; n < 2; n++) {
    caller.speak(640);
    await gateway.clock.run(100);
    caller.hush(700);
    await gateway.clock.run(100);
  }
  caller.stop();
  await gateway.clock.run(100);
  return gateway;
}

const revisionsOf = ({ events }: Gateway): RevisionEvent[] => events.filter((event) => event.type === 'revision');

describe('utterances of a call that are read together', () => {
  it('are told as revisions in the public shape, before the end of the call', async () => {
    const gateway = await callWithPause();
    expect(revisionsOf(gateway).map((event) => JSON.stringify(event))).toEqual([
      expect.stringMatching(
        /^\{"type":"revision","callId":"CA1","track":"inbound","utterance":1,"version":2,"text":"secret words,","startMs":0,"endMs":\d+\}$/,
      ),
      expect.stringMatching(/"utterance":2,"version":2,"text":"both of them\."/),
    ]);
    expect(gateway.events.at(-1)?.type).toBe('call.ended');
    const finals = gateway.events.filter((event) => event.type === 'caption' && event.final);
    expect(finals).toMatchObject([{ text: 'secret words' }, { text: 'secret words' }]);
  });

  it('are not, with JOIN_MS=0', async () => {
    expect(revisionsOf(await callWithPause({ JOIN_MS: '0' }))).toEqual([]);
  });

  it('are one utterance where ENDPOINT_CAPTIONS_MS is longer than the pause', async () => {
    const gateway = await callWithPause({ ENDPOINT_CAPTIONS_MS: '1000' });
    expect(gateway.events.filter((event) => event.type === 'caption' && event.final)).toHaveLength(1);
  });
});

describe('the echo filter', () => {
  const caption = { type: 'caption', utterance: 1, stable: '', tail: '', final: true, endMs: 900, lagMs: 0 } as const;

  it('keeps back revisions of an echo, and those that became one', () => {
    const voice = { onCallerSpeech: () => undefined, playedWithin: () => 'your balance is forty two dollars' };
    const filter = new EchoFilter({ voice, nowMs: () => 1000, onEcho: () => undefined });
    const echo = 'Your balance is forty two dollars.';
    filter.filter({ ...caption, text: echo, startMs: 100 });
    filter.filter({ ...caption, utterance: 2, text: 'Thank you very much.', startMs: 100 });
    expect(filter.admits({ utterance: 1, text: 'Your balance', startMs: 100 })).toBe(false);
    expect(filter.admits({ utterance: 2, text: 'Thank you so much.', startMs: 100 })).toBe(true);
    expect(filter.admits({ utterance: 2, text: echo, startMs: 100 })).toBe(false);
  });
});
