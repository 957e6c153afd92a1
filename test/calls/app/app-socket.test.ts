import { readFileSync } from 'node:fs';
import twilio from 'twilio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FeedEvent } from '../../../src/calls/feed/events.ts';
import { packagePath } from '../../../src/foundation/folders/paths.ts';
import { type GotFrame, startApp, type TestApp } from '../../helpers/app.ts';
import { type Caller, type Gateway, metricValue, startCalls } from '../harness.ts';

let app: TestApp;
let gateway: Gateway;
beforeEach(async () => {
  app = await startApp();
});
afterEach(async () => {
  const drained = gateway.registry.drain(0);
  await gateway.clock.run(100);
  await drained;
  await app.close();
});

/** A call whose app is {@link app}; resolves when it has its setup. */
async function call(
  environment: Record<string, string> = {},
  parameters: Record<string, string> = {},
): Promise<Caller> {
  gateway = startCalls({ APP_URL: app.url, ...environment });
  const caller = gateway.dial().start({ parameters });
  await app.until(({ frames }) => frames.length > 0);
  return caller;
}

/** The app says something, and it has come to the bridge. */
async function say(...frames: unknown[]): Promise<void> {
  app.say(...frames);
  await app.exchanged();
}

const text = (token: string, last = true) => ({ type: 'text', token, last });
const spoken = () => gateway.events.filter((event) => event.type === 'spoken');
const ends = () => gateway.events.filter((event) => event.type === 'call.ended');
const fixture = (name: string) =>
  JSON.parse(readFileSync(packagePath('fixtures', 'wire', 'relay', 'to-app', `${name}.json`), 'utf8')) as GotFrame;
/** Names and types of a frame's fields, in order. */
const shapeOf = (frame: GotFrame | undefined) =>
  Object.entries(frame ?? {}).map(([name, value]) => `${name}: ${typeof value}`);

/** Lets time pass, and what comes over the network come, until `holds`. */
async function pass(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns > 5000) throw new Error('it did not come');
    await new Promise(setImmediate);
    await gateway.clock.run(20);
  }
}

/** Lets time pass until the feed has said something that `wanted` accepts. */
async function passUntil(wanted: (event: FeedEvent) => boolean): Promise<void> {
  for (let ms = 0; !gateway.events.some(wanted); ms += 100) {
    if (ms > 60_000) throw new Error('it did not come within a minute');
    await gateway.clock.run(100);
  }
}

describe('an app on the line', () => {
  it('is set up with who calls and what the stream brought for it', async () => {
    await call({}, { from: '+14155550100', to: '+14155550199', partialPrompts: 'true', callReference: 'bar' });
    expect(app.frames).toEqual([
      {
        ...fixture('setup'),
        sessionId: expect.stringMatching(/^VX[0-9a-f]{32}$/),
        accountSid: 'AC1',
        callSid: 'CA1',
        customParameters: { from: '+14155550100', to: '+14155550199', callReference: 'bar' },
      },
    ]);
    expect(shapeOf(app.frames[0])).toEqual(shapeOf(fixture('setup')));
  });

  it('hears the caller, answers, is interrupted and told what was heard', async () => {
    const caller = await call({}, { partialPrompts: 'true', events: 'speaker-events tokens-played' });
    caller.speak(640);
    await gateway.clock.run(100);
    caller.hush(600);
    await gateway.clock.run(100);
    await app.until(() => app.of('prompt').some((frame) => frame['last'] === true));

    await say(
      text('One sentence is short. ', false),
      text('The other one is quite a bit longer than that. ', false),
      text('Three.', false),
    );
    await gateway.clock.run(1200);
    caller.speak(1200);
    await gateway.clock.run(1200);
    await app.until(() => app.of('interrupt').length > 0);
    const [interrupt] = app.of('interrupt');
    const [event] = spoken();
    expect(event).toMatchObject({
      interrupted: true,
      heardText: expect.stringMatching(/^One sentence is short\. The other/),
    });
    expect(interrupt).toMatchObject({ utteranceUntilInterrupt: event?.type === 'spoken' ? event.heardText : '' });

    caller.press('5');
    await app.until(
      () => app.of('dtmf').length > 0 && app.of('info').some((frame) => frame['name'] === 'tokensPlayed'),
    );
    for (const frame of [...app.of('prompt'), ...app.of('interrupt'), ...app.of('dtmf'), ...app.of('info')]) {
      expect([shapeOf(fixture(frame.type === 'info' ? 'info-agent' : frame.type))]).toContainEqual(shapeOf(frame));
    }
  });

  it('is told what is wrong with what it says', async () => {
    await call();
    await say('hello');
    await app.until(() => app.of('error').length > 0);
    expect(shapeOf(app.of('error')[0])).toEqual(shapeOf(fixture('error')));
  });

  it('ends the call when all was played, and hands over what is for others, which nobody logs', async () => {
    const caller = await call();
    await say(text('Good bye.'), { type: 'end', handoffData: '{"reason":"person"}' });
    await gateway.clock.run(100);
    expect(ends()).toEqual([]);
    await passUntil((event) => event.type === 'call.ended');
    expect([spoken(), ends()]).toMatchObject([[{ text: 'Good bye.', interrupted: false }], [{ reason: 'app' }]]);
    expect(gateway.registry.get('CA1')?.handoffData).toBe('{"reason":"person"}');
    expect(caller.socket.closedWith).toMatchObject({ code: 1000 });
    expect(gateway.logLines.filter((line) => line.includes('person'))).toEqual([]);
  });

  it('has finished when it closes: what it said is played, then the call ends', async () => {
    await call();
    app.say(text('Good bye.'));
    app.socket.close();
    await app.until(({ closeCodes }) => closeCodes.length > 0);
    await passUntil((event) => event.type === 'call.ended');
    expect([spoken(), ends()]).toMatchObject([[{ text: 'Good bye.', interrupted: false }], [{ reason: 'app' }]]);
  });

  it('is closed with the call', async () => {
    (await call()).stop();
    await app.until(({ closeCodes }) => closeCodes.length > 0);
    expect(app.closeCodes).toEqual([1000]);
  });

  it('says no more once the call is to be hung up, and what it said is played', async () => {
    await call();
    await say(text('Half a', false));
    gateway.registry.hangup('CA1');
    await app.until(({ closeCodes }) => closeCodes.length > 0);
    await passUntil((event) => event.type === 'call.ended');
    expect([spoken(), ends()]).toMatchObject([[{ text: 'Half a', interrupted: false }], [{ reason: 'api' }]]);
  });

  it('is not dialled for a call that it cannot speak in', async () => {
    gateway = startCalls({ APP_URL: app.url });
    gateway
      .dial()
      .start({ tracks: ['inbound', 'outbound'] })
      .speak(600);
    await gateway.clock.run(1000);
    expect(app.requests).toEqual([]);
  });

  it('is greeted in the name of, at once', async () => {
    await call({ APP_GREETING: 'Welcome.' });
    await passUntil((event) => event.type === 'spoken');
    expect(spoken()).toMatchObject([{ text: 'Welcome.', interrupted: false }]);
  });
});

describe('an app that never ends an answer', () => {
  it('is heard to its last word, and what the caller says then is a prompt', async () => {
    const caller = await call({}, { events: 'speaker-events' });
    await say(text('Hello there. How can', false), text(' I help?', false));
    await passUntil((event) => event.type === 'spoken');
    expect(spoken()).toMatchObject([
      { text: 'Hello there. How can I help?', heardText: 'Hello there. How can I help?', interrupted: false },
    ]);
    await app.until(() => app.of('info').some((frame) => frame['value'] === 'off'));
    caller.speak(640).hush(600);
    await gateway.clock.run(200);
    await pass(() => app.of('prompt').length > 0);
    expect(app.of('interrupt')).toEqual([]);
    await say(text('I see.', false));
    await passUntil((event) => event.type === 'spoken' && event.text === 'I see.');
    expect(spoken()).toMatchObject([{}, { text: 'I see.', interrupted: false }]);
  });

  it('does not keep others from speaking in the call', async () => {
    await call();
    await say(text('Hello there. ', false));
    await passUntil((event) => event.type === 'spoken');
    gateway.registry.voice('CA1')?.say('A word from the office.');
    await passUntil((event) => event.type === 'spoken' && event.text === 'A word from the office.');
  });

  it('is waited for where that is wished', async () => {
    await call({ APP_FLUSH_MS: '0' });
    await say(text('Hello there. And', false));
    await gateway.clock.run(10_000);
    expect(spoken()).toEqual([]);
  });
});

describe("another platform's voice", () => {
  const foreign = { voice: 'Charlie-flash_v2_5', welcomeGreeting: 'Welcome.' };

  it('is replaced by the usual one, and the app told once', async () => {
    await call({}, foreign);
    await say(text('How are you?'));
    await passUntil((event) => event.type === 'spoken' && event.text === 'How are you?');
    expect(spoken()).toMatchObject([{ text: 'Welcome.', interrupted: false }, { text: 'How are you?' }]);
    expect(gateway.engine.spoken.map(({ voice }) => voice)).toEqual(['rms', 'rms']);
    await app.exchanged();
    expect(app.of('error')).toEqual([
      { type: 'error', description: 'voice: got "Charlie-flash_v2_5", which is not there; rms speaks in its place' },
    ]);
  });

  it('is replaced by the one that VOICE_MAP has for it, and nobody is told', async () => {
    await call({ VOICE_MAP: 'charlie-Flash_v2_5=slt' }, foreign);
    await passUntil((event) => event.type === 'spoken');
    expect(gateway.engine.spoken.map(({ voice }) => voice)).toEqual(['slt']);
    await app.exchanged();
    expect(app.of('error')).toEqual([]);
  });

  it('is nobody when its name is empty', async () => {
    await call({}, { ...foreign, voice: ' ' });
    await passUntil((event) => event.type === 'spoken');
    await app.exchanged();
    expect([gateway.engine.spoken.map(({ voice }) => voice), app.of('error')]).toEqual([['rms'], []]);
  });

  it('is refused over the API, unless VOICE_MAP has it', async () => {
    await call({ VOICE_MAP: 'Joanna=slt' });
    const voice = gateway.registry.voice('CA1');
    expect(() => voice?.say('Hello.', { voice: 'Charlie-flash_v2_5' })).toThrow('voice: got "Charlie-flash_v2_5"');
    voice?.say('Hello.', { voice: 'joanna' });
    await passUntil((event) => event.type === 'spoken');
    expect(gateway.engine.spoken.map(({ voice }) => voice)).toEqual(['slt']);
  });
});

describe('a voice that is too slow for calls', () => {
  it('says nothing, and the app is told why and what helps', async () => {
    await call({}, { voice: 'slt' });
    gateway.engine.voices = gateway.engine.voices.map((each) => ({ ...each, cost: each.name === 'slt' ? 0.95 : 0.02 }));
    await say(text('How are you?'));
    await pass(() => app.of('error').length > 0);
    expect(app.of('error')).toEqual([
      { type: 'error', description: expect.stringMatching(/^voice: slt takes 0\.95 s of a core .*PROMPTS_FILE/) },
    ]);
    expect([gateway.engine.spoken, spoken().filter(({ heardText }) => heardText !== '')]).toEqual([[], []]);
  });
});

describe('the connection to an app', () => {
  it("is signed so that Twilio's own library takes it for Twilio", async () => {
    await call({ APP_SIGNING_KEY: 'our key' });
    const headers = app.requests[0]?.headers ?? {};
    const signature = String(headers['x-twilio-signature']);
    expect(headers['x-trunkline-signature']).toBe(signature);
    const url = `wss://127.0.0.1:${app.port}/calls?x=1`;
    expect(twilio.validateRequest('our key', signature, url, {})).toBe(true);
    expect(twilio.validateRequest('another key', signature, url, {})).toBe(false);
  });

  it('is not signed without a key', async () => {
    await call();
    expect(Object.keys(app.requests[0]?.headers ?? {}).filter((name) => name.includes('signature'))).toEqual([]);
  });

  it('is made again when it is lost: set up anew, told what was said meanwhile, and listened to', async () => {
    const caller = await call();
    const { port } = app;
    await app.close();
    await pass(() => gateway.logLines.some((line) => line.includes('"lost"')));
    caller.speak(640).hush(600);
    await gateway.clock.run(200);
    app = await startApp(port);
    await pass(() => app.of('prompt').length > 0);
    expect(app.frames.map(({ type }) => type)).toEqual(['setup', 'prompt']);
    await say(text('Here I am again.'));
    await passUntil((event) => event.type === 'spoken');
    expect(spoken()).toMatchObject([{ text: 'Here I am again.' }]);
  });

  it('is ended after ten messages in a row that are no good, and counted', async () => {
    const malformed = () => metricValue('trunkline_app_messages_total', { type: 'malformed' });
    const before = await malformed();
    await call({ APP_GONE_TEXT: 'It does not work.' });
    await say(...Array<string>(9).fill('rubbish'), text(''), ...Array<string>(9).fill('rubbish'));
    expect(app.closeCodes).toEqual([]);
    app.say('rubbish');
    await app.until(({ closeCodes }) => closeCodes.length > 0);
    expect([app.closeCodes, app.of('error').length, (await malformed()) - before]).toEqual([[1007], 19, 19]);
    await passUntil((event) => event.type === 'call.ended');
    expect(spoken()).toMatchObject([{ text: 'It does not work.' }]);
  });
});

describe('an app that is gone for good', () => {
  async function callNobody(environment: Record<string, string>): Promise<Caller> {
    await app.close();
    gateway = startCalls({ APP_URL: app.url, APP_RECONNECT_MS: '0', APP_GONE_TEXT: 'Nobody is here.', ...environment });
    const caller = gateway.dial().start();
    await pass(() => spoken().length > 0);
    return caller;
  }

  it('is made up for with a sentence, and the call ends', async () => {
    const caller = await callNobody({});
    await passUntil((event) => event.type === 'call.ended');
    expect([spoken(), ends()]).toMatchObject([
      [{ text: 'Nobody is here.', interrupted: false }],
      [{ reason: 'app_unreachable' }],
    ]);
    expect(caller.socket.closedWith).toMatchObject({ code: 1000, reason: 'the app cannot be reached' });
  });

  it('is warned of with the reason and the address, without its path and credentials', async () => {
    const { port } = app;
    await callNobody({ APP_URL: `ws://user:password@127.0.0.1:${port}/secret?key=secret` });
    const warnings = gateway.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40);
    const where = { app: `ws://127.0.0.1:${port}`, reason: 'ECONNREFUSED', callId: 'CA1' };
    expect(warnings).toMatchObject([
      { ...where, outcome: 'refused' },
      { ...where, msg: 'the app is gone' },
    ]);
    expect(gateway.logLines.join('')).not.toMatch(/password|secret/);
  });

  it('was never there for a caller who hangs up before it is given up', async () => {
    await app.close();
    gateway = startCalls({ APP_URL: app.url });
    const caller = gateway.dial().start();
    await pass(() => gateway.logLines.some((line) => line.includes('ECONNREFUSED')));
    caller.stop();
    await passUntil((event) => event.type === 'call.ended');
    expect(ends()).toMatchObject([{ reason: 'app_unreachable' }]);
    const warnings = gateway.logLines.filter((line) => line.includes('"level":40'));
    expect(warnings.length).toBe(1);
  });

  it('was there when it goes later', async () => {
    await call({ APP_RECONNECT_MS: '0' });
    await app.close();
    await pass(() => spoken().length > 0);
    await passUntil((event) => event.type === 'call.ended');
    expect(ends()).toMatchObject([{ reason: 'app' }]);
  });

  it('leaves the captions, where that is wished', async () => {
    const caller = await callNobody({ APP_GONE: 'captions' });
    caller.speak(640).hush(600);
    await gateway.clock.run(1000);
    expect(spoken()).toMatchObject([{ text: 'Nobody is here.' }]);
    expect(gateway.registry.summary('CA1')?.transcript).toMatchObject([
      { kind: 'spoken', text: 'Nobody is here.' },
      { kind: 'caption', text: 'secret words' },
    ]);
    expect(ends()).toEqual([]);
    caller.stop();
    await passUntil((event) => event.type === 'call.ended');
    expect(ends()).toMatchObject([{ reason: 'hangup' }]);
  });
});
