/** The phone in the page: every state and error, against a scripted server. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { encodeG711 } from '../../src/audio/g711.ts';
import { packagePath } from '../../src/foundation/folders/paths.ts';
import { FRAME_MS, MULAW_8K, msToBytes, msToSamples } from '../../src/foundation/units.ts';
import { launchBrowser, microphoneOf } from './chromium.ts';
import { ScriptedBridge } from './scripted-bridge.ts';
import { StubGateway } from './stub-gateway.ts';

const CALL_ID = 'web-1';
/** A name that is not this machine's, so that browsers find its pages insecure. */
const OTHER_HOST = 'bridge.example';
const FIND_FAINT_TEXTS = readFileSync(new URL('./faint-texts.js', import.meta.url), 'utf8');

let browser: Browser;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  browser = await launchBrowser([
    ...microphoneOf(packagePath('fixtures', 'audio', 'short.wav')),
    `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`,
  ]);
});

afterAll(() => browser?.close());

async function newPage(options: BrowserContextOptions = {}): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 700 }, ...options });
  page = await context.newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of (401|404|503)/.test(message.text())) complaints.push(message.text());
  });
}

const phone = () => page.locator('#phone');
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const waitFor = (attribute: string, value: string) => expect.poll(() => phone().getAttribute(attribute)).toBe(value);
const problem = () => phone().getByRole('alert').innerText();
const focused = () => page.evaluate('document.activeElement.id');

describe('with a scripted bridge', () => {
  let gateway: StubGateway;
  let bridge: ScriptedBridge;

  beforeEach(async () => {
    gateway = new StubGateway();
    await gateway.listen();
    bridge = new ScriptedBridge();
  });

  afterEach(async () => {
    await page.context().close();
    await gateway.close();
    expect(complaints).toEqual([]);
  });

  async function openPage(options: BrowserContextOptions & { url?: string } = {}): Promise<void> {
    const { url = `${gateway.url}#/phone`, ...rest } = options;
    await newPage(rest);
    await bridge.answerOn(page);
    await page.route('**/v1/phone', (route) => route.fulfill({ json: { callId: CALL_ID, token: 'one-use' } }));
    await page.goto(url);
  }

  async function openCall(options: BrowserContextOptions = {}): Promise<void> {
    await openPage(options);
    await press('Call');
    await waitFor('data-state', 'live');
  }

  it('offers the flows that calls can use, and asks for the one that was chosen', async () => {
    const flows = [
      { name: 'shop', version: '3f9c01ab' },
      { name: 'spoilt', version: null },
    ];
    const asked: string[] = [];
    await openPage({ url: 'about:blank' });
    await page.route('**/v1/flows?*', (route) => route.fulfill({ json: { data: flows, next: null } }));
    await page.route('**/v1/phone?*', (route) => {
      asked.push(new URL(route.request().url()).search);
      return route.fulfill({ json: { callId: CALL_ID, token: 'one-use' } });
    });
    await page.goto(`${gateway.url}#/phone`);
    await page.getByLabel('Flow', { exact: true }).selectOption('shop');
    expect(await page.locator('#phone-flow option').allInnerTexts()).toEqual(['as the server is set up', 'shop']);
    await press('Call');
    await waitFor('data-state', 'live');
    expect(asked).toEqual(['?flow=shop']);
    expect(await page.locator('#phone-flow').isVisible()).toBe(false);
  });

  const loudFrames = () => bridge.frames.filter((frame) => frame.some((byte) => byte !== 0xff)).length;

  /** A tone of `durationMs`, in frames. */
  function play(durationMs: number): void {
    const { rateHz } = MULAW_8K;
    const tone = Int16Array.from(
      { length: msToSamples(durationMs, rateHz) },
      (_, at) => 8000 * Math.sin((2 * Math.PI * 440 * at) / rateHz),
    );
    const bytes = Buffer.from(encodeG711(tone, MULAW_8K));
    const frameBytes = msToBytes(FRAME_MS, MULAW_8K);
    for (let at = 0; at < bytes.length; at += frameBytes) {
      bridge.say({ event: 'media', media: { payload: bytes.subarray(at, at + frameBytes).toString('base64') } });
    }
  }

  it('speaks as Twilio does: connected, start with the token, and a frame every 20 ms', async () => {
    await openCall();
    await bridge.pass(50);
    const [connected, start, ...media] = bridge.messages;
    expect(connected).toMatchObject({ event: 'connected', protocol: 'Call' });
    expect(start).toMatchObject({
      event: 'start',
      sequenceNumber: '1',
      start: {
        callSid: CALL_ID,
        streamSid: start?.streamSid,
        tracks: ['inbound'],
        customParameters: { token: 'one-use' },
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
      },
    });
    expect(media.map(({ event }) => event)).toEqual(media.map(() => 'media'));
    for (const [at, message] of media.entries()) {
      expect(message).toMatchObject({ sequenceNumber: `${at + 2}`, streamSid: start?.streamSid });
      expect(message.media).toMatchObject({ track: 'inbound', chunk: `${at + 1}`, timestamp: `${at * FRAME_MS}` });
    }
    expect(new Set(bridge.frames.map(({ length }) => length))).toEqual(new Set([msToBytes(FRAME_MS, MULAW_8K)]));
    expect(loudFrames()).toBeGreaterThan(10);
  });

  it('plays what the bridge says and returns its mark when it was heard, not before', async () => {
    await openCall();
    const before = bridge.of('media').length;
    // Long enough to be seen while it sounds.
    play(2000);
    bridge.say({ event: 'mark', mark: { name: 'heard' } });
    await waitFor('data-speaking', 'true');
    expect(await page.getByText('Trunkline is speaking').isVisible()).toBe(true);
    await expect.poll(() => bridge.of('mark').length, { interval: 10 }).toBe(1);
    expect(bridge.of('mark')[0]).toMatchObject({ mark: { name: 'heard' } });
    expect((bridge.messages.findIndex(({ event }) => event === 'mark') - before) * FRAME_MS).toBeGreaterThanOrEqual(
      2000,
    );
    await waitFor('data-speaking', 'false');
  });

  it('falls silent on a clear and returns the marks that were waiting', async () => {
    await openCall();
    play(10_000);
    bridge.say({ event: 'mark', mark: { name: 'first' } });
    bridge.say({ event: 'mark', mark: { name: 'second' } });
    await waitFor('data-speaking', 'true');
    bridge.say({ event: 'clear' });
    await waitFor('data-speaking', 'false');
    await expect.poll(() => bridge.of('mark').map(({ mark }) => mark?.name)).toEqual(['first', 'second']);
  });

  it('sends silence while it is muted', async () => {
    await openCall();
    await expect.poll(loudFrames).toBeGreaterThan(0);
    await press('Mute');
    expect(await page.getByRole('button', { name: 'Mute' }).getAttribute('aria-pressed')).toBe('true');
    await bridge.pass(10);
    const atMute = loudFrames();
    await bridge.pass(15);
    expect(loudFrames()).toBe(atMute);
  });

  it('shows how loud the microphone is', async () => {
    await openCall();
    const meter = page.getByLabel('Microphone level');
    await expect
      .poll(() => meter.evaluate((element) => Number(Reflect.get(element, 'value'))), { interval: 20 })
      .toBeGreaterThan(0.3);
  });

  it('has a keypad for mouse and keyboard, but not in the text', async () => {
    await openCall();
    await page.keyboard.press('5');
    await press('Keypad');
    await press('hash');
    await page.keyboard.press('Shift+*');
    await page.getByPlaceholder('Type a sentence').fill('');
    await page.keyboard.type('007');
    await page.getByPlaceholder('Type a sentence').blur();
    await page.keyboard.press('9');
    await bridge.pass(5);
    expect(bridge.of('dtmf').map(({ dtmf }) => dtmf)).toEqual(
      ['5', '#', '*'].map((digit) => ({ track: 'inbound_track', digit })),
    );
  });

  it('closes the keypad with Esc, wherever the focus is, and keeps the place of the keyboard', async () => {
    await openCall();
    await press('Keypad');
    await press('hash');
    await page.keyboard.press('Escape');
    expect(await page.locator('#keypad').isVisible()).toBe(false);
    expect(await focused()).toBe('phone-keys');
    await page.keyboard.press('Enter');
    await page.getByPlaceholder('Type a sentence').focus();
    await page.keyboard.press('Escape');
    expect(await page.locator('#keypad').isVisible()).toBe(false);
    expect(await focused()).toBe('phone-text');
    expect(await phone().getAttribute('data-state')).toBe('live');
  });

  it('has a typed sentence spoken, and gives it back with the reason when it cannot be', async () => {
    await openCall();
    const said: unknown[] = [];
    let refusal: string | null = null;
    await page.route(`**/v1/calls/${CALL_ID}/say`, (route) => {
      said.push(route.request().postDataJSON());
      if (refusal === null) return route.fulfill({ status: 202, json: { utterance: 'u1' } });
      return route.fulfill({ status: 503, json: { error: { message: refusal } } });
    });
    const text = page.getByLabel('Sentence to be spoken in this call');
    await text.fill('  Your order is ready. ');
    await page.keyboard.press('Enter');
    await expect.poll(() => said).toEqual([{ text: 'Your order is ready.' }]);
    expect(await text.inputValue()).toBe('');
    refusal = 'the engine is not there';
    await text.fill('Once more.');
    await press('Say');
    await expect.poll(problem).toBe(refusal);
    expect(await text.inputValue()).toBe('Once more.');
  });

  it('is worked with the keyboard alone, from the call to the hang-up', async () => {
    await openPage();
    await page.getByRole('button', { name: 'Call', exact: true }).focus();
    await page.keyboard.press('Enter');
    await waitFor('data-state', 'live');
    expect(await focused()).toBe('phone');
    for (const id of ['phone-mute', 'phone-keys', 'phone-hangup']) {
      await page.keyboard.press('Tab');
      expect(await focused()).toBe(id);
    }
    await page.keyboard.press('Enter');
    await waitFor('data-state', 'idle');
    expect(await focused()).toBe('phone-call');
    await expect.poll(() => bridge.closeCode).toBe(1000);
    expect(bridge.messages.at(-1)).toMatchObject({ event: 'stop', stop: { callSid: CALL_ID } });
    expect(await phone().getByRole('status').innerText()).toBe('You hung up.');
  });

  it('says what became of a call that the gateway ended, and can call again', async () => {
    await openPage();
    const ends = [
      [1000, 'call ended', 'The call is over: Trunkline hung up.'],
      [1012, 'draining', 'The call is over: the server is shutting down.'],
      [1013, 'all 64 places are taken', 'The call is over: all 64 places are taken.'],
      [4000, '', 'The call is over: the connection to the server was lost.'],
    ] as const;
    for (const [code, reason, words] of ends) {
      await press('Call');
      await waitFor('data-state', 'live');
      await bridge.close(code, reason);
      await waitFor('data-state', 'idle');
      expect(await phone().getByRole('status').innerText()).toBe(words);
    }
    expect(bridge.of('start').length).toBe(ends.length);
  });

  it('says so when the server is full', async () => {
    await openPage();
    await page.route('**/v1/phone', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'all 64 places for calls are taken' } } }),
    );
    await press('Call');
    await expect.poll(problem).toBe('all 64 places for calls are taken');
    expect(bridge.messages).toEqual([]);
    await waitFor('data-state', 'idle');
  });

  it('asks for the key when the gateway wants one', async () => {
    await openPage();
    await page.route('**/v1/phone', (route) => route.fulfill({ status: 401, json: {} }));
    await press('Call');
    await page.getByLabel('API key').waitFor();
  });

  it('says what is wrong with the microphone', async () => {
    await openPage();
    const refusals = [
      ['NotFoundError', /^No microphone was found/],
      ['NotAllowedError', /^The microphone was refused\. Allow it/],
      ['NotReadableError', /another program/],
      ['AbortError', /^The microphone could not be opened: AbortError/],
    ] as const;
    for (const [name, words] of refusals) {
      await page.evaluate(
        `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', '${name}'))`,
      );
      await press('Call');
      await expect.poll(problem).toMatch(words);
      await waitFor('data-state', 'idle');
    }
    expect(bridge.messages).toEqual([]);
  });

  it('gives up while the browser still asks, and stops the microphone that comes too late', async () => {
    await openPage();
    await page.evaluate(`{
      const media = navigator.mediaDevices;
      const open = media.getUserMedia.bind(media);
      const allowed = new Promise((resolve) => { globalThis.allow = resolve; });
      media.getUserMedia = (wish) => allowed.then(() => open(wish)).then((stream) => (globalThis.stream = stream));
    }`);
    await press('Call');
    await press('Cancel');
    await waitFor('data-state', 'idle');
    await page.evaluate('allow()');
    await expect
      .poll(() => page.evaluate('globalThis.stream?.getTracks().map((track) => track.readyState).join()'))
      .toBe('ended');
    expect(bridge.messages).toEqual([]);
  });

  it('says so where browsers give no microphone: over http from another machine', async () => {
    await openPage({ url: `${gateway.url.replace('127.0.0.1', OTHER_HOST)}#/phone` });
    await press('Call');
    await expect
      .poll(problem)
      .toMatch(
        /only to pages that came over https or from localhost; this one came from http:\/\/bridge\.example:\d+\.$/,
      );
  });

  it.each(['light', 'dark'] as const)('has no text too faint to read in %s', async (colorScheme) => {
    await openCall({ colorScheme, reducedMotion: 'reduce' });
    await press('Mute');
    await press('Keypad');
    play(10_000);
    await waitFor('data-speaking', 'true');
    expect(await page.evaluate(FIND_FAINT_TEXTS)).toEqual([]);
  });

  it.each([
    [390, 760],
    [320, 760],
    [320, 568],
  ])('fits a screen of %i by %i pixels, its keypad too, and leaves the captions room', async (width, height) => {
    await openCall({ viewport: { width, height } });
    const paneHeight = () => page.locator('#pane').evaluate((pane) => pane.clientHeight);
    expect(await paneHeight()).toBeGreaterThan(height / 5);
    await press('Keypad');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(height);
    expect(await paneHeight()).toBeGreaterThan(height / 5);
    for (const name of ['hash', 'Hang up', 'Keypad']) {
      const box = await page.getByRole('button', { name, exact: true }).boundingBox();
      expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
    }
    await press('hash');
  });
});
