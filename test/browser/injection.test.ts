/** No text of strangers becomes a script, a link or a request in a real browser: every view, and flows as well. */
import { describe, expect, it } from 'vitest';
import type { CallView } from '../../src/calls/call-view.ts';
import type { FeedEvent } from '../../src/calls/feed/events.ts';
import { type Answers, answer, CALLS, SYSTEM, USUAL } from './console-answers.ts';
import { FLOW_ANSWERS, RECORDED, SPOKEN } from './flow-answers.ts';
import { call, caption } from './page-calls.ts';
import { complaints, gateway, openBlank, page, usePage } from './page-test.ts';

usePage();

/** Where payloads would have the browser go. */
const ELSEWHERE = 'http://elsewhere.example/';

const MARKUP = [
  `<img src=x onerror="hacked=1"><img src=${ELSEWHERE}i>`,
  `<script>hacked=1</script><script src=${ELSEWHERE}s></script>`,
  `"><svg onload=hacked=1><use href=${ELSEWHERE}u#u>`,
  `' autofocus tabindex=0 onfocus=hacked=1 style='background:url(${ELSEWHERE}b)`,
  `<iframe srcdoc="<script>parent.hacked=1</script>"></iframe><base href=${ELSEWHERE}>`,
  `</script></style></textarea></title><style>@import '${ELSEWHERE}c';</style>`,
  `\${hacked=1}{{constructor.constructor('hacked=1')()}}<%= hacked=1 %>`,
  `<meta http-equiv=refresh content="0;url=${ELSEWHERE}">`,
  `<form action=${ELSEWHERE}><input type=image src=${ELSEWHERE}f>`,
];

const TEXTS = [
  ['markup', MARKUP.join('')],
  ['a link', 'javascript:hacked=1//'],
  ['marks without width', `${'\u202e\u200b\u2066\ufeff'.repeat(500)}<b onmouseover=hacked=1>__proto__`],
];

/** What a view would not work without, as the page is to show it. */
const NEEDED =
  /^(id|callId|state|phase|kind|verb|reason|source|part|protocol|role|type|urgency|setting|path|carrier|tracks?)$/;
const TIME = /^\d{4}-\d\d-\d\dT/;

/** A copy in which `text` stands for each text, with a number behind it: the same for the same text. */
function poisoned(value: unknown, text: string, numbers = new Map<string, number>(), key = ''): unknown {
  if (typeof value === 'string') {
    if (value === '' || NEEDED.test(key) || TIME.test(value)) return value;
    const number = numbers.get(value) ?? numbers.set(value, numbers.size).size - 1;
    return `${text}${number}`;
  }
  if (Array.isArray(value)) return value.map((each) => poisoned(each, text, numbers, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poisoned(each, text, numbers, name)]));
}

function strangeCall(id: string, text: string): CallView {
  const usual = call(id, {
    names: { inbound: 'a', outbound: 'b' },
    from: 'c',
    to: 'd',
    agent: 'e',
    queue: 'f',
    outcome: 'g',
    app: 'h',
    handoffData: 'i',
    tags: ['j', 'k'],
  });
  return poisoned(usual, text) as CallView;
}

function events(text: string): FeedEvent[] {
  const callId = 'CA1';
  return [
    caption(callId, 1, { stable: text, final: true }),
    {
      type: 'hint',
      callId,
      hint: 'h',
      source: 'card',
      title: text,
      text,
      words: text,
      link: text,
      track: null,
      atMs: 1,
    },
    { type: 'note', callId, note: 'n', author: text, text, at: '2026-01-01T12:00:07.000Z' },
    { type: 'mark', callId, author: text, label: text, atMs: 2000 },
    { type: 'app.muted', callId, by: text, atMs: 2600 },
    { type: 'gap', callId, track: 'inbound', startMs: 2700, endMs: 2900, reason: text as 'overload' },
    { type: 'flow.step', callId, flow: text, step: text, verb: text, atMs: 3000 },
  ];
}

/** A server all of whose texts are `text`. */
function answers(text: string): Answers {
  const numbers = new Map<string, number>();
  const poison = (value: unknown): object => poisoned(value, text, numbers) as object;
  const ended = { ...CALLS[1], ...strangeCall('CA9', text), state: 'ended' };
  const found = { ...ended, found: [{ track: 'inbound', startMs: 1, parts: [{ text, marked: true }] }] };
  const flow = FLOW_ANSWERS['/v1/flows/shop'];
  const statistics = FLOW_ANSWERS['/v1/flows/shop/statistics'] as (url: URL) => object;
  return {
    ...USUAL,
    '/v1/calls': (url) => {
      if (url.searchParams.has('state'))
        return { data: url.searchParams.get('state') === 'live' ? gateway.calls : [], next: null };
      return { data: url.searchParams.has('q') ? [found] : [ended], next: null };
    },
    '/v1/system': poison(SYSTEM),
    '/v1/session': {
      name: text,
      role: 'admin',
      agent: null,
      permissions: ['calls.read', 'calls.make', 'flows.read', 'prompts.read', 'prompts'],
    },
    '/v1/flows': poison(FLOW_ANSWERS['/v1/flows']),
    '/v1/flows/shop': poison(flow),
    '/v1/flows/shop/statistics': (url) => poison(statistics(url)),
    '/v1/flow-prompts': { data: (poison({ data: SPOKEN }) as { data: object[] }).data, next: null },
    '/v1/flow-recordings': {
      data: RECORDED.map((each) => ({ ...each, path: `${text}/../x.wav`, name: text, error: text })),
      next: null,
    },
  };
}

const FOUND = `({
  hacked: window.hacked ?? null,
  made: document.querySelectorAll('img, svg[onload], iframe, base, script:not([src]), meta[http-equiv], form[action]')
    .length,
  handlers: [...document.querySelectorAll('*')]
    .filter((each) => [...each.attributes].some(({ name }) => /^on/i.test(name))).length,
  links: [...document.querySelectorAll('[href], [src]')].map((each) => each.href || each.src)
    .filter((each) => typeof each === 'string' && new URL(each, location).origin !== location.origin),
})`;

describe('a payload', () => {
  it.each(TEXTS)('is text in every view: %s', async (_, text) => {
    const elsewhere: string[] = [];
    const views: [string, string][] = [
      ['#/live', '.card'],
      ['#/calls/CA1', '#finals .caption'],
      ['#/history', '.found-call'],
      [`#/history?q=${encodeURIComponent(text)}&tag=${encodeURIComponent(text)}`, '.found-call mark'],
      [`#/${text}`, 'body'],
      ['#/flows', '.flow-row'],
      ['#/flows?name=shop', '.flow-step'],
      ['#/system', 'role=region[name="Refused"]'],
    ];
    gateway.calls = [strangeCall('CA1', text), strangeCall('CA2', text)];
    gateway.events.set('CA1', events(text));
    await openBlank({ viewport: { width: 1440, height: 900 } });
    page.on('dialog', (dialog) => {
      elsewhere.push(dialog.message());
      return dialog.dismiss();
    });
    page.on('popup', (popup) => void elsewhere.push(popup.url()));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(gateway.url) && !url.startsWith('data:') && !url.startsWith('blob:')) elsewhere.push(url);
    });
    await answer(page, answers(text));
    for (const [address, shown] of views) {
      await page.goto(`${gateway.url}${address}`);
      await page.locator(shown).first().waitFor();
      if (address.includes('name=shop')) await page.locator('.flow-prompts summary').click();
      expect([address, await page.evaluate(FOUND)]).toEqual([
        address,
        { hacked: null, made: 0, handlers: 0, links: [] },
      ]);
    }
    expect(elsewhere).toEqual([]);
    // A script or a style that the policy had to stop would be told here.
    expect(complaints).toEqual([]);
  });
});
