/** What annoyed people who used the page: it stays where they look and point, and says why calls ended. */
import { expect, it } from 'vitest';
import type { CallView } from '../../src/calls/call-view.ts';
import { callView } from '../helpers/call-view.ts';
import { gateway, openPage, page, usePage } from './page-test.ts';

usePage();

function call(id: string, changes: Partial<CallView> = {}): CallView {
  return callView(id, { to: id, startedAt: '2026-01-01T12:00:00.000Z', durationMs: 21_000, ...changes });
}

function ended(id: string, endReason: string, startedAt = '2026-01-01T12:00:00.000Z'): CallView {
  return call(id, {
    state: 'ended',
    endedAt: '2026-01-01T12:01:00.000Z',
    startedAt,
    endReason: endReason as CallView['endReason'],
  });
}

it('has room for captions beside names of any length', async () => {
  const name =
    'Maria-Magdalena von Hohenlohe-Waldenburg-Schillingsfürst <sip:maria.magdalena@very-long-domain.example.com>';
  gateway.calls = Array.from({ length: 12 }, (_, index) => call(`CA${index}`, { from: name, to: name }));
  await openPage('#CA11', { viewport: { width: 320, height: 568 } });
  await expect
    .poll(() => page.getByRole('heading', { level: 2, name: 'Maria' }).getAttribute('title'))
    .toBe(`${name} → ${name}`);
  expect(await page.locator('#pane').evaluate((pane) => pane.clientHeight)).toBeGreaterThan(100);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
});

it.each([
  ['app_unreachable', 'the app could not be reached', 'app unreachable'],
  ['lost', 'the stream was lost', 'stream lost'],
  ['something_new', 'something_new', 'something_new'],
])('says why a call ended that was over before the page came: %s', async (reason, sentence, short) => {
  gateway.calls = [ended('CA1', reason)];
  gateway.finals.set('CA1', [
    { kind: 'caption', track: 'inbound', utterance: 1, text: 'Hello?', startMs: 200, endMs: 900 },
  ]);
  await openPage('#CA1', { viewport: { width: 1100, height: 700 } });
  await page.locator('#finals').getByText(`The call ended: ${sentence}.`).waitFor();
  expect(await page.locator('#call-status').innerText()).toContain(short);
  expect(await page.locator('#finals .note').count()).toBe(1);
});

it('replaces texts by their revisions in place, and takes out one without words', async () => {
  gateway.calls = [call('CA1')];
  gateway.finals.set('CA1', [
    { kind: 'caption', track: 'inbound', utterance: 1, text: 'However,', startMs: 1000, endMs: 1900 },
    { kind: 'caption', track: 'inbound', utterance: 2, text: 'Did do', startMs: 2000, endMs: 2900 },
    { kind: 'caption', track: 'inbound', utterance: 3, version: 2, text: 'the slow', startMs: 3000, endMs: 3900 },
  ]);
  await openPage('#/calls/CA1', { viewport: { width: 1100, height: 700 } });
  await expect.poll(() => gateway.readers).toBe(1);
  const said = page.locator('#finals .said');
  await expect.poll(() => said.count()).toBe(3);
  const revise = (utterance: number, version: number, text: string) => {
    const [startMs, endMs] = [utterance * 1000, utterance * 1000 + 900];
    gateway.publish({ type: 'revision', callId: 'CA1', track: 'inbound', utterance, version, text, startMs, endMs });
  };
  revise(1, 3, 'However, due to');
  revise(1, 2, 'too late');
  revise(2, 2, '');
  revise(3, 2, 'known already');
  revise(4, 2, 'channels.');
  await expect.poll(() => said.last().innerText()).toBe('channels.');
  expect(await said.allInnerTexts()).toEqual(['However, due to', 'the slow', 'channels.']);
});
