import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Metrics } from '../../src/foundation/metrics.ts';
import { type Hints, openHints } from '../../src/hints/open-hints.ts';
import { openFeed } from '../../src/records/open-feed.ts';
import { FakeClock } from '../fakes/clock.ts';
import { eventually } from '../helpers/eventually.ts';
import { readSettings } from '../helpers/settings.ts';
import { type ChatServer, startChatServer } from './chat-server.ts';
import { caption, ended, hintsOf, revision, started } from './said.ts';

const HINT = '{"title": "Reset", "text": "Hold the button."}';

let chat: ChatServer;
let hints: Hints | null = null;
beforeEach(async () => {
  chat = await startChatServer();
});
afterEach(async () => {
  await hints?.close();
  chat.close();
});

async function open(environment: Readonly<Record<string, string>> = {}) {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const lines: unknown[][] = [];
  const log = { info: (...line: unknown[]) => lines.push(line), warn: (...line: unknown[]) => lines.push(line) };
  const base = { LLM_BASE_URL: chat.baseUrl, HINTS_MODEL: 'm', LLM_API_KEY: 'k', HINTS_EVERY: '2' };
  const settings = readSettings({ ...base, ...environment });
  const { feed } = openFeed(settings, { clock });
  const shown = hintsOf(feed);
  const registry = { parameters: (id: string) => ({ own: { hints: id !== 'CAoff' } }) as never };
  hints = await openHints({ settings, feed, registry, clock, log: log as never, metrics });
  const outcomes = async () => {
    const { values } = await metrics.hints.asked.get();
    return Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
  };
  return { clock, feed, shown, lines, outcomes, metrics };
}

describe('hints by a language model', () => {
  it('are asked for every few utterances, with what both sides said last, and shown beside the call', async () => {
    const { feed, clock, shown } = await open();
    chat.reply = `<think>{"title": "no"}</think>Sure!\n\`\`\`json\n${HINT}\n\`\`\``;
    feed.publish(started('CA1'));
    feed.publish(caption('CA1', 1, 'It is slow.'));
    expect(chat.asked).toEqual([]);
    feed.publish(caption('CA1', 1, 'Hello.', { track: 'outbound', startMs: 200, endMs: 900 }));
    await eventually(() => expect(shown).toHaveLength(1));
    expect(chat.asked).toMatchObject([
      {
        authorization: 'Bearer k',
        model: 'm',
        shown: [],
        said: [
          { speaker: 'agent', text: 'Hello.' },
          { speaker: 'caller', text: 'It is slow.' },
        ],
      },
    ]);
    expect(shown).toEqual([
      {
        type: 'hint',
        callId: 'CA1',
        hint: 'model:1',
        source: 'model',
        title: 'Reset',
        text: 'Hold the button.',
        link: null,
        words: null,
        track: null,
        atMs: 1500,
      },
    ]);
    feed.publish(revision('CA1', 1, 2, 'It is so slow.'));
    for (const n of [2, 3, 4]) feed.publish(caption('CA1', n, `Line ${n}.`));
    expect(chat.asked).toHaveLength(1);
    clock.advance(15_000);
    chat.reply = '{"title": "RESET", "text": "Now hold it longer.", "link": "javascript:alert(1)"}';
    feed.publish(caption('CA1', 5, 'And now?'));
    await eventually(() => expect(shown).toHaveLength(2));
    expect(chat.asked[1]).toMatchObject({ shown: ['Reset'] });
    expect(chat.asked[1]?.said.map(({ text }) => text).slice(0, 3)).toEqual(['Hello.', 'It is so slow.', 'Line 2.']);
    expect(shown[1]).toMatchObject({ hint: 'model:1', text: 'Now hold it longer.', link: null });
  });

  it('are not asked for where an app talks by itself, until somebody takes the call over, nor with hints=off', async () => {
    const { feed } = await open();
    for (const id of ['CAoff', 'CAapp']) {
      feed.publish(started(id, id === 'CAapp' ? 'wss://app.example' : null));
      for (const n of [1, 2, 3]) feed.publish(caption(id, n, `in ${id}`));
    }
    feed.publish({ type: 'app.muted', callId: 'CAapp', by: 'anna', atMs: 3600 });
    feed.publish(caption('CAapp', 4, 'a person'));
    await eventually(() => expect(chat.asked).toHaveLength(1));
    expect(JSON.stringify(chat.asked)).not.toContain('CAoff');
  });

  it.each(['store', 'feed'])('are asked for with numbers masked as REDACT=%s does', async (mode) => {
    const { feed } = await open({ REDACT: mode });
    feed.publish(started('CA1'));
    feed.publish(caption('CA1', 1, 'What is your card number?', { track: 'outbound' }));
    feed.publish(caption('CA1', 2, 'four one one one one one one one'));
    await eventually(() => expect(chat.asked).toHaveLength(1));
    const [asked] = chat.asked;
    expect(asked?.said.map(({ text }) => text)).toEqual(['What is your card number?', expect.stringMatching(/^\[/)]);
    expect(JSON.stringify(asked?.said)).not.toMatch(/four|one/);
  });

  it('are dropped when the call ends first', async () => {
    const { feed, shown, outcomes } = await open();
    let gone = false;
    chat.reply = (response) => void response.once('close', () => (gone = true));
    feed.publish(started('CA1'));
    for (const n of [1, 2]) feed.publish(caption('CA1', n, 'a'));
    await eventually(() => expect(chat.asked).toHaveLength(1));
    feed.publish(ended('CA1'));
    await eventually(() => expect(gone).toBe(true));
    await eventually(async () => expect(await outcomes()).toEqual({ dropped: 1 }));
    expect(shown).toEqual([]);
  });

  it('wait for one of 16 places, the longest waiting call first, one question for each call', async () => {
    const { feed, outcomes, metrics } = await open({ HINTS_EVERY: '1' });
    const open16: (() => void)[] = [];
    chat.reply = (response) => void open16.push(() => response.end('{"choices": [{"message": {"content": "{}"}}]}'));
    for (let n = 1; n <= 20; n++) feed.publish(started(`CA${n}`));
    for (const utterance of [1, 2])
      for (let n = 1; n <= 20; n++) feed.publish(caption(`CA${n}`, utterance, `${n} says ${utterance}`));
    await eventually(() => expect(open16).toHaveLength(16));
    expect((await metrics.hints.asking.get()).values[0]?.value).toBe(16);
    for (const release of open16.splice(0)) release();
    await eventually(() => expect(open16).toHaveLength(4));
    expect(chat.asked.slice(16).map(({ said }) => said.at(-1)?.text)).toEqual(
      expect.arrayContaining(['17 says 2', '18 says 2', '19 says 2', '20 says 2']),
    );
    for (const release of open16.splice(0)) release();
    await eventually(async () => expect(await outcomes()).toEqual({ nothing: 20 }));
  });

  it('give a failing server rest, tell it once without words, and tell when it is back', async () => {
    const { feed, clock, lines, outcomes } = await open({ HINTS_EVERY: '1', HINTS_INTERVAL_MS: '1000' });
    chat.reply = (response) => response.writeHead(500).end('four one one one');
    feed.publish(started('CA1'));
    let utterance = 0;
    const say = () => feed.publish(caption('CA1', ++utterance, 'secret words'));
    say();
    await eventually(async () => expect(await outcomes()).toEqual({ failed: 1 }));
    clock.advance(2000);
    say();
    expect(chat.asked).toHaveLength(1);
    clock.advance(3000);
    say();
    await eventually(async () => expect(await outcomes()).toEqual({ failed: 2 }));
    clock.advance(5000);
    say();
    expect(chat.asked).toHaveLength(2);
    chat.reply = HINT;
    clock.advance(5000);
    say();
    await eventually(() => expect(lines).toHaveLength(2));
    expect(lines).toEqual([
      [{ reason: 'the endpoint answered 500' }, 'LLM_BASE_URL does not answer; it is asked less often until it does'],
      ['LLM_BASE_URL answers again'],
    ]);
  });

  it.each([
    ['is late', () => undefined, 'late'],
    ['never stops', (r: { write(text: string): void }) => r.write('x'.repeat(200_000)), 'unusable'],
    ['is no chat endpoint', (r: { end(text: string): void }) => r.end('<html>'), 'unusable'],
    ['hangs up', (r: { destroy(): void }) => r.destroy(), 'failed'],
    ['sends elsewhere', (r: never) => redirect(r), 'failed'],
    ['has no object', 'I cannot help with that.', 'unusable'],
    ['has a list for a title', '{"title": ["a"], "text": "b"}', 'unusable'],
    ['has no text', '{"title": "a", "text": ""}', 'nothing'],
    ['has nulls', '{"title": null, "text": null}', 'nothing'],
  ])('are none where the server %s', async (_what, reply, outcome) => {
    const { feed, clock, shown, outcomes } = await open({ HINTS_EVERY: '1', LLM_TIMEOUT_MS: '2000' });
    chat.reply = reply as never;
    feed.publish(started('CA1'));
    feed.publish(caption('CA1', 1, 'a'));
    await eventually(() => expect(chat.asked).toHaveLength(1));
    if (outcome === 'late') clock.advance(2000);
    await eventually(async () => expect(await outcomes()).toEqual({ [outcome]: 1 }));
    expect(shown).toEqual([]);
  });

  it('are cut to a size that fits, on one line', async () => {
    const { feed, shown } = await open({ HINTS_EVERY: '1' });
    chat.reply = JSON.stringify({ title: `a\n\u202e\u0000b${'c'.repeat(200)}`, text: 'd '.repeat(5000) });
    feed.publish(started('CA1'));
    feed.publish(caption('CA1', 1, `${'long '.repeat(400)}`));
    await eventually(() => expect(shown).toHaveLength(1));
    expect(chat.asked[0]?.said[0]?.text).toHaveLength(1000);
    expect(shown[0]?.title).toMatch(/^a bc{96}…$/);
    expect(shown[0]?.text.length).toBeLessThanOrEqual(500);
  });

  it('send at most 4000 characters of a long call', async () => {
    const { feed } = await open({ HINTS_EVERY: '100' });
    feed.publish(started('CA1'));
    for (let n = 1; n <= 100; n++) feed.publish(caption('CA1', n, `${n} ${'x'.repeat(300)}`));
    await eventually(() => expect(chat.asked).toHaveLength(1));
    const said = chat.asked[0]?.said ?? [];
    expect(said.map(({ text }) => text.split(' ')[0])).toEqual(
      ['88', '89', '90', '91', '92', '93', '94', '95', '96', '97', '98', '99', '100'].slice(-said.length),
    );
    expect(said.reduce((chars, { text }) => chars + text.length, 0)).toBeLessThanOrEqual(4000);
  });
});

function redirect(response: { writeHead(status: number, headers: object): { end(): void } }): void {
  response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
}
