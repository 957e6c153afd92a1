/** The system view of the page, above answers of a server that the tests make up. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { findBarriers } from './axe.ts';
import { type Answers, answer, PROMPTS, refusal, SYSTEM, USUAL } from './console-answers.ts';
import { complaints, gateway, openBlank, page, usePage } from './page-test.ts';

usePage();

async function open(answers: Answers = {}, options: BrowserContextOptions = {}): Promise<void> {
  await openBlank({ viewport: { width: 1440, height: 900 }, ...options });
  await answer(page, { ...USUAL, ...answers });
  await page.clock.install();
  await page.goto(`${gateway.url}#/system`);
}

/** Pictures for people who want to look at them go here; unset = none are made. */
const PICTURES = process.env['TRUNKLINE_TEST_PICTURES'];

const EUROPEAN = 'en bg cs da de el es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(' ');

/** A second recogniser that was slow, and now starts again. */
const TWO_RECOGNISERS = {
  ...SYSTEM,
  recognisers: [
    {
      role: 'live',
      reads: 'partials',
      name: 'moonshine-tiny',
      languages: ['en'],
      state: 'ready',
      ready: 1,
      workers: 1,
    },
    {
      role: 'final',
      reads: 'finals',
      name: 'parakeet-tdt-0.6b-v3',
      languages: EUROPEAN,
      state: 'starting',
      ready: 0,
      workers: 1,
    },
  ],
  fallbacks: [
    { reason: 'not_ready', count: 3 },
    { reason: 'late', count: 9 },
  ],
  engines: [SYSTEM.engines[0], { ...SYSTEM.engines[0], role: 'final', state: 'starting', busyShare: 0 }],
};

async function picture(name: string, part = panel('Engines')): Promise<void> {
  if (PICTURES === undefined) return;
  mkdirSync(PICTURES, { recursive: true });
  await part.screenshot({ path: join(PICTURES, `engines-${name}.png`) });
}

const panel = (name: string) => page.getByRole('region', { name });

describe('the system view', () => {
  it('says how the server is', async () => {
    await open();
    await page.getByText('up 12 d 3 h').waitFor();
    expect(await page.locator('.figures').innerText()).toMatch(/10 of 40[\s\S]*31[\s\S]*412[\s\S]*0\.4 s/);
    expect(await panel('Engines').innerText()).toMatch(
      /58 %[\s\S]*no restarts[\s\S]*61 %[\s\S]*1 restart, the last 2 d/,
    );
    expect(await panel('Engines').innerText()).toContain('recordings 4 (3 waiting)');
    expect(await panel('Ways in').innerText()).toMatch(/SIP registration[\s\S]*not connected[\s\S]*unreachable/);
    expect(await panel('Refused').innerText()).toMatch(/too_many_calls[\s\S]*3 ×[\s\S]*Raise MAX_CALLS/);
    expect(await panel('Refused').innerText()).not.toContain('route_not_found');
    expect(await panel('Records and disk').innerText()).toMatch(/9821 calls in SQLite, kept for 30 days[\s\S]*1\.2 GB/);
    expect(await panel('Records and disk').innerText()).toContain('Leaves this machine: translation');
    expect(complaints).toEqual([]);
  });

  it('shows how the servers are that recognise and speak for this one', async () => {
    await open();
    const remotes = panel('Remote recognisers and voices');
    await remotes.getByText('https://gpu1.harbor.example/v1').waitFor();
    expect(await remotes.innerText()).toMatch(
      /gpu1[\s\S]*reads German, French[\s\S]*in use[\s\S]*6 of 32[\s\S]*84, 191 ms/,
    );
    expect(await remotes.innerText()).toMatch(
      /gpu2[\s\S]*failed 4 min ago: it could not be reached \(ECONNREFUSED\)[\s\S]*left alone[\s\S]*–/,
    );
    await picture('remotes', remotes);
    expect(await findBarriers(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    const [seen, whole] = await remotes.evaluate((element) => [element.clientWidth, element.scrollWidth]);
    expect(whole).toBe(seen);
    await picture('remotes-phone', remotes);
    await open({ '/v1/system': { ...SYSTEM, servers: [] } });
    await page.getByText('up 12 d 3 h').waitFor();
    await panel('Remote recognisers and voices').waitFor({ state: 'hidden' });
  });

  it('names both recognisers, how they are, and why the better one did not write', async () => {
    await open({ '/v1/system': TWO_RECOGNISERS });
    const engines = panel('Engines');
    await engines.getByText('parakeet-tdt-0.6b-v3').waitFor();
    const text = await engines.innerText();
    expect(text).toMatch(/live captions\s+moonshine-tiny\s+ready\s+English/);
    expect(text).toMatch(/final captions\s+parakeet-tdt-0\.6b-v3\s+starting\s+English, Bulgarian, Czech and 22 more/);
    expect(text).toContain('wrote 12 finals instead: the other one took too long 9\u00a0×, was not ready 3\u00a0×.');
    expect(await engines.locator('.engines li').nth(1).innerText()).toContain('starting· finals');
    expect(await findBarriers(page, '#view')).toEqual([]);
    await picture('two');
  });

  it.each([
    ['missing', /cannot be started/],
    ['stopped', /starts when needed/],
  ])('says that a recogniser is %s', async (state, words) => {
    const [live, final] = TWO_RECOGNISERS.recognisers;
    await open({ '/v1/system': { ...TWO_RECOGNISERS, recognisers: [live, { ...final, state, languages: null }] } });
    await panel('Engines').getByText(words).waitFor();
  });

  it('counts time as the server does, whatever the clock of the browser shows', async () => {
    await openBlank();
    await answer(page, USUAL);
    await page.clock.install({ time: Date.now() - 30 * 3_600_000 });
    await page.goto(`${gateway.url}#/system`);
    await panel('Ways in').getByText('worked 2 min ago').first().waitFor();
  });

  it('looks every four seconds while it is shown, and takes the focus from nobody', async () => {
    let looks = 0;
    await open({
      '/v1/system': () => {
        looks += 1;
        return { ...SYSTEM, calls: { ...SYSTEM.calls, live: looks } };
      },
    });
    await page.getByText('1 of 40').waitFor();
    await page.getByText('Upload a recording').click();
    await page.getByLabel('Text that is said').fill('Please h');
    await page.clock.runFor(4500);
    await page.getByText('2 of 40').waitFor();
    expect(await page.locator(':focus').getAttribute('id')).toBe('prompt-text');
    expect(await page.getByLabel('Text that is said').inputValue()).toBe('Please h');
    await page.goto(`${gateway.url}#/history`);
    await page.locator('.found-call').first().waitFor();
    const before = looks;
    await page.clock.runFor(20_000);
    expect(looks).toBe(before);
  });

  it('tests the app once, and says what came of it', async () => {
    await open();
    await panel('App').getByText('ECONNREFUSED, 7 times').waitFor();
    await page.getByRole('button', { name: 'Test the app' }).click();
    await page.getByText('Not reached after 3 ms: ECONNREFUSED.').waitFor();
  });

  it('lists prompts, forgets one, and uploads a recording', async () => {
    const deeds: string[] = [];
    await open({
      [`/v1/prompts/${'b'.repeat(32)}`]: (_url, route) => {
        deeds.push(route.request().method());
        return {};
      },
      '/v1/prompts': (_url, route) => {
        if (route.request().method() === 'POST') deeds.push(route.request().postData() ?? '');
        return route.request().method() === 'POST' ? { ...PROMPTS.data[0] } : PROMPTS;
      },
    });
    await panel('Prompts').getByText('Please hold the line.').waitFor();
    await page.getByRole('button', { name: 'Forget “Please hold the line.”' }).click();
    await expect.poll(() => deeds).toEqual(['DELETE']);
    await page.getByText('Upload a recording').click();
    await page.getByLabel('Text that is said').fill('Please hold the line.');
    await page.getByLabel('WAV').setInputFiles({ name: 'x.wav', mimeType: 'audio/wav', buffer: Buffer.from('RIFF') });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('The recording takes the place of').waitFor();
    expect(deeds[1]).toContain('Please hold the line.');
  });

  it('shows why a recording was refused beside the form', async () => {
    await open({
      '/v1/prompts': (_url, route) =>
        route.request().method() === 'POST' ? refusal(400, 'invalid_request', 'file: it is 121 s long') : PROMPTS,
    });
    await page.getByText('Upload a recording').click();
    await page.getByLabel('Text that is said').fill('x');
    await page.getByLabel('WAV').setInputFiles({ name: 'x.wav', mimeType: 'audio/wav', buffer: Buffer.from('RIFF') });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('file: it is 121 s long').waitFor();
  });

  it('finds settings by their names, and runs the checks', async () => {
    await open();
    await panel('Settings in effect').getByText('Show them').click();
    await page.getByText('MAX_CALLS=40').waitFor();
    expect(await page.getByText('ENDPOINT_MS=400').count()).toBe(0);
    await page.getByLabel('Filter the settings').fill('silence');
    await page.getByText('ENDPOINT_MS=400').waitFor();
    await page.getByRole('button', { name: 'Run the checks' }).click();
    await page.getByText('1 finding to look at.').waitFor();
    expect(await panel('Doctor').innerText()).toContain('no ffprobe');
  });

  it('has users and the audit log for admins', async () => {
    const added: unknown[] = [];
    await open({
      '/v1/admin/users': (_url, route) => {
        if (route.request().method() !== 'POST') return USUAL['/v1/admin/users'] as object;
        added.push(route.request().postDataJSON());
        return { name: 'robot', kind: 'key', role: 'app', agent: null, createdAt: null, key: 'secret-key' };
      },
    });
    await panel('Users').getByText('dashboard').waitFor();
    await page.getByText('Add a user or a key').click();
    await panel('Users').getByLabel('Name').fill('robot');
    await panel('Users').getByLabel('Role').selectOption('app');
    await panel('Users').getByRole('button', { name: 'Add' }).click();
    await page.getByText('The key of robot, shown this once: secret-key').waitFor();
    expect(added).toEqual([{ name: 'robot', role: 'app', key: true }]);
    await page.getByText('Who read, exported, changed or deleted what').click();
    await page.getByText('calls.searched').waitFor();
  });

  it('has neither for supervisors, and nothing for agents', async () => {
    const supervisor = { name: 'sue', role: 'supervisor', agent: null, permissions: ['system', 'prompts.read'] };
    await open({ '/v1/session': supervisor });
    await panel('Prompts').getByText('Please hold the line.').waitFor();
    for (const name of ['Settings in effect', 'Users', 'Audit log']) expect(await panel(name).count()).toBe(0);
    expect(await page.getByRole('button', { name: /^Forget/ }).count()).toBe(0);
    await page.context().close();
    await open({ '/v1/system': refusal(403, 'role_refused', 'no'), '/v1/prompts': refusal(403, 'role_refused', 'no') });
    await page.getByText('The system is for supervisors and admins.').waitFor();
    await page.context().close();
    await open({ '/v1/session': { name: 'tom', role: 'agent', agent: 'tom', permissions: ['calls.read'] } });
    await expect.poll(() => page.getByRole('link', { name: 'System', exact: true }).isVisible()).toBe(false);
  });

  it.each([
    ['at a desk, light', 1440, 'light'],
    ['at a desk, dark', 1440, 'dark'],
    ['on a phone, light', 375, 'light'],
    ['on a phone, dark', 375, 'dark'],
  ] as const)('has no barriers and fits its width %s', async (_where, width, colorScheme) => {
    await open({ '/v1/system': TWO_RECOGNISERS }, { viewport: { width, height: 800 }, colorScheme });
    await panel('Prompts').getByText('Please hold the line.').waitFor();
    for (const summary of await page.locator('.more > summary').all()) await summary.click();
    await page.getByText('calls.searched').waitFor();
    expect(await findBarriers(page, '#view')).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(complaints).toEqual([]);
    await picture(`${width}-${colorScheme}`);
  });
});
