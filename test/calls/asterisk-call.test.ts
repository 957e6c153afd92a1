/**
 * A call of an Asterisk, on a clock of the test: what it sends has no time of its own, and what it plays it plays by
 * its own queue.
 */
import { describe, expect, it } from 'vitest';
import { frameBytes } from '../../src/audio/frames.ts';
import { encodeG711 } from '../../src/audio/g711.ts';
import { AsteriskQueue, writeEvent } from '../../src/carriers/asterisk/simulator/queue.ts';
import { AsteriskDialect } from '../../src/carriers/asterisk/wire/chan-websocket.ts';
import type { ControlFormat } from '../../src/carriers/asterisk/wire/control-messages.ts';
import { type Codec, FRAME_MS, MULAW_8K, msToSamples } from '../../src/foundation/units.ts';
import { CarrierSocket } from '../fakes/carrier-socket.ts';
import { startWebhook } from '../helpers/webhook.ts';
import { type Gateway, startCalls } from './harness.ts';
import { turns } from './speaking.ts';

const LINEAR_16K: Codec = { name: 'pcm16', rateHz: 16_000, channels: 1, bytesPerSample: 2 };
const LINEAR_44K: Codec = { ...LINEAR_16K, rateHz: 44_100 };
const FORMATS = new Map([
  [MULAW_8K, 'ulaw'],
  [LINEAR_16K, 'slin16'],
  [LINEAR_44K, 'slin44'],
]);
const ID = '1795240043.2';
const LOUD = 8000;
const UNFILLED = { ASTERISK_FILL_SILENCE: 'false' };

/** An Asterisk in the hand of the test, which hears what its far party hears. */
class Asterisk {
  readonly socket = new CarrierSocket();
  readonly queue: AsteriskQueue;
  readonly heard: Uint8Array[] = [];
  readonly commands: string[] = [];
  /** Names of the events that it told. */
  readonly said: string[] = [];
  readonly #gateway: Gateway;
  readonly #codec: Codec;
  readonly #format: ControlFormat;
  readonly #firstRelease: boolean;
  #read = 0;

  constructor(
    gateway: Gateway,
    { codec = LINEAR_16K, format = 'json' as ControlFormat, trusted = true, firstRelease = false } = {},
  ) {
    this.#gateway = gateway;
    this.#codec = codec;
    this.#format = format;
    this.#firstRelease = firstRelease;
    this.queue = new AsteriskQueue({ frameBytes: frameBytes(codec), format, channelId: ID, hasMarks: !firstRelease });
    gateway.webSockets.accept(this.socket.asWebSocket, new AsteriskDialect(), {
      trusted,
      fillSilence: gateway.context.settings.ASTERISK_FILL_SILENCE,
    });
  }

  start(variables: Record<string, string> = {}): this {
    const identity = { connection_id: 'trunkline', channel: 'WebSocket/trunkline/0x7fe7' };
    const media = {
      format: FORMATS.get(this.#codec) ?? '',
      optimal_frame_size: frameBytes(this.#codec),
      ptime: FRAME_MS,
    };
    const id = this.#firstRelease ? {} : { channel_id: ID };
    const fields =
      this.#format === 'json'
        ? { ...identity, ...media, channel_variables: variables }
        : { ...identity, ...id, ...media };
    return this.say(writeEvent('MEDIA_START', fields, this.#format, ID));
  }

  say(text: string): this {
    this.said.push(/[A-Z_]{8,}/.exec(text)?.[0] ?? '');
    this.socket.emit('message', Buffer.from(text), false);
    return this;
  }

  /** One message of `durationMs`, loud or not. */
  frame(level: number, durationMs = FRAME_MS): this {
    const samples = Int16Array.from({ length: msToSamples(durationMs, this.#codec.rateHz) }, (_, i) =>
      (i & 4) === 0 ? level : -level,
    );
    this.socket.emit('message', Buffer.from(encodeG711(samples, this.#codec)), true);
    return this;
  }

  /** `durationMs` go by, in which the caller speaks loudly, is silent (0), or sends nothing at all (null). */
  async pass(durationMs: number, level: number | null): Promise<this> {
    await turns();
    for (let passedMs = 0; passedMs < durationMs; passedMs += FRAME_MS) {
      this.#gateway.clock.advance(FRAME_MS);
      if (level !== null) this.frame(level);
      this.#listen();
      for (const message of this.queue.tick((frame) => this.heard.push(frame))) this.say(message);
      await turns();
    }
    return this;
  }

  #listen(): void {
    const sent: readonly (string | Uint8Array)[] = this.socket.sent;
    for (; this.#read < sent.length; this.#read++) {
      const message = sent[this.#read] ?? '';
      const isText = typeof message === 'string';
      if (isText) this.commands.push(message);
      for (const answer of isText ? this.queue.receiveText(message) : this.queue.receiveAudio(message))
        this.say(answer);
    }
  }
}

const finals = (gateway: Gateway) =>
  gateway.events.flatMap((event) => (event.type === 'caption' && event.final ? [event] : []));

function voiceOf(gateway: Gateway) {
  const voice = gateway.registry.voice(ID);
  if (voice === undefined) throw new Error('there is no live call');
  return voice;
}

describe('what Asterisk sends', () => {
  it.each([
    ['µ-law', MULAW_8K],
    ['slin16', LINEAR_16K],
    ['slin44', LINEAR_44K],
  ])('becomes captions: %s', async (_name, codec) => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway, { codec }).start();
    await asterisk.pass(800, LOUD);
    await asterisk.pass(800, 0);
    expect(finals(gateway)).toMatchObject([{ callId: ID, text: 'secret words' }]);
  });

  it('may begin before MEDIA_START: sound and keys are kept, in their place', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway);
    await asterisk.pass(400, LOUD);
    asterisk.say('{"event":"DTMF_END","channel_id":"1","digit":"5"}');
    await asterisk.pass(300, null);
    asterisk.start();
    expect(gateway.events.find(({ type }) => type === 'dtmf')).toMatchObject({ digit: '5' });
    await asterisk.pass(300, LOUD);
    await asterisk.pass(800, 0);
    expect(finals(gateway)).toMatchObject([{ startMs: 0, text: 'secret words' }]);
    expect(gateway.registry.get(ID)?.durationMs).toBe(1780);
  });

  it('keeps no more of what comes before MEDIA_START than anybody says in that time', async () => {
    const asterisk = new Asterisk(startCalls());
    for (let i = 0; i <= 3000; i++) asterisk.frame(LOUD);
    expect(asterisk.socket.closedWith).toMatchObject({ code: 4414 });
  });

  it('names the call by its channel, and its parties by variables', async () => {
    const gateway = startCalls();
    new Asterisk(gateway).start({ __TRUNKLINE_FROM: '+15550100', __TRUNKLINE_TO: '600' });
    expect(gateway.registry.get(ID)).toMatchObject({
      carrier: 'asterisk',
      from: '+15550100',
      to: '600',
      state: 'live',
    });
  });

  it("is held as its app's TwiML says, which is told what the dialplan knows", async () => {
    const webhook = await startWebhook();
    webhook.answers['/voice'] = '<Say>One moment.</Say><Hangup/>';
    const gateway = startCalls({ APP_TWIML_URL: `${webhook.origin}/voice`, OUTBOUND_ALLOW: 'apps=127.0.0.0/8' });
    const asterisk = new Asterisk(gateway).start({
      __TRUNKLINE_FROM: '100',
      __TRUNKLINE_CALLER_NAME: 'Ann',
      __TRUNKLINE_FORWARDED_FROM: '200',
    });
    const { fields } = await webhook.until(1);
    await gateway.context.apps.twiml.settled();
    expect(fields).toMatchObject({ CallSid: ID, From: '100', CallerName: 'Ann', ForwardedFrom: '200' });
    for (let turns = 0; turns < 100 && gateway.registry.liveCount > 0; turns++) await asterisk.pass(100, 0);
    expect(gateway.registry.get(ID)?.endReason).toBe('app');
    expect(asterisk.commands.join()).toContain('HANGUP');
    await webhook.close();
  });

  it('may come in messages of any length', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway).start();
    for (const durationMs of [10, 30, 60, 60, 60, 60, 60, 60, 60, 40]) {
      gateway.clock.advance(durationMs);
      asterisk.frame(LOUD, durationMs);
    }
    expect(gateway.registry.get(ID)?.durationMs).toBe(500);
  });

  it('is no message while nobody speaks: the utterance ends by the clock', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway).start();
    await asterisk.pass(800, LOUD);
    expect(finals(gateway)).toEqual([]);
    await asterisk.pass(1500, null);
    expect(finals(gateway)).toHaveLength(1);
  });

  it('leaves holes, which are filled, so that captions keep the time of the call', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway).start();
    await asterisk.pass(600, LOUD);
    await asterisk.pass(3000, null);
    await asterisk.pass(600, LOUD);
    await asterisk.pass(800, 0);
    const [first, second] = finals(gateway);
    expect((second?.startMs ?? 0) - (first?.startMs ?? 0)).toBeGreaterThan(3500);
    expect(gateway.registry.get(ID)?.durationMs).toBe(5000);
  });

  it('may leave holes longer than are filled: times go on all the same, of what is said and of keys', async () => {
    const gateway = startCalls({ GAP_MAX_MS: '2000' });
    const asterisk = new Asterisk(gateway).start();
    await asterisk.pass(1000, null);
    asterisk.say('{"event":"DTMF_END","channel_id":"1","digit":"1"}');
    await asterisk.pass(600, LOUD);
    await asterisk.pass(30_000, null);
    asterisk.say('{"event":"DTMF_END","channel_id":"1","digit":"2"}');
    await asterisk.pass(600, LOUD);
    await asterisk.pass(800, 0);
    const [first, second] = finals(gateway);
    expect([first?.startMs, second?.startMs].map((ms = 0) => Math.round(ms / 1000))).toEqual([1, 32]);
    const keys = gateway.events.flatMap((event) => (event.type === 'dtmf' ? [[event.digit, event.atMs]] : []));
    expect(keys).toEqual([
      ['1', 1000],
      ['2', 31_600],
    ]);
    await asterisk.pass(5000, null);
    gateway.registry.hangup(ID);
    await asterisk.pass(3000, null);
    expect(gateway.events.at(-1)).toMatchObject({ type: 'call.ended', durationMs: 38_000 });
  });

  it('is asked for a sign of life when nothing comes, and the call goes on as long as one comes', async () => {
    const gateway = startCalls({ MEDIA_TIMEOUT_MS: '2000' });
    const asterisk = new Asterisk(gateway).start();
    await asterisk.pass(10_000, null);
    expect(gateway.registry.get(ID)?.state).toBe('live');
    expect(asterisk.commands.filter((command) => command.includes('GET_STATUS')).length).toBeGreaterThan(4);
    gateway.clock.advance(2100);
    expect(asterisk.socket.closedWith).toMatchObject({ code: 4409 });
  });

  it('is a dead phone when no sound comes for ten minutes, whatever Asterisk answers', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway).start();
    await asterisk.pass(2000, LOUD);
    const answerFor = async (minutes: number) => {
      for (let seconds = 0; seconds < minutes * 60; seconds += 10) {
        gateway.clock.advance(10_000);
        asterisk.say('{"event":"STATUS","channel_id":"1"}');
        await turns();
      }
    };
    await answerFor(9);
    asterisk.say('{"event":"DTMF_END","channel_id":"1","digit":"5"}');
    await answerFor(9);
    expect(gateway.registry.get(ID)?.state).toBe('live');
    await answerFor(2);
    expect(asterisk.socket.closedWith).toMatchObject({ code: 4409, reason: expect.stringContaining('600000 ms') });
    expect(gateway.registry.get(ID)?.endReason).toBe('timeout');
  });

  it('tells keys', () => {
    const gateway = startCalls();
    new Asterisk(gateway).start().say('{"event":"DTMF_END","channel_id":"1","digit":"5"}');
    expect(gateway.events).toContainEqual({ type: 'dtmf', callId: ID, digit: '5', atMs: 0 });
  });

  it.each([
    [false, 1],
    [true, 0],
  ])('may name an app when it has shown a password (%s)', (trusted, warnings) => {
    const gateway = startCalls();
    new Asterisk(gateway, { trusted }).start({ __TRUNKLINE_APP: 'ws://127.0.0.1:9/' });
    expect(gateway.logLines.filter((line) => line.includes('APP_ALLOWED_ORIGINS'))).toHaveLength(warnings);
  });
});

describe.each(['json', 'plain-text'] as const)('what Asterisk is sent, in %s', (format) => {
  const TEXT = 'Your balance is forty two dollars.';

  it('is an answer, whole frames a little ahead of time, and marks by which it is known what was heard', async () => {
    const gateway = startCalls(UNFILLED);
    const asterisk = new Asterisk(gateway, { format }).start();
    await asterisk.pass(100, 0);
    expect(asterisk.queue.answered).toBe(true);
    voiceOf(gateway).say(TEXT);
    await asterisk.pass(1000, 0);
    expect(asterisk.heard).toHaveLength(TEXT.length);
    expect(asterisk.heard.every((frame) => frame.length === frameBytes(LINEAR_16K))).toBe(true);
    expect(asterisk.queue.highestFrames).toBeLessThanOrEqual(gateway.context.settings.PLAYOUT_LEAD_MS / FRAME_MS + 1);
    expect(gateway.events.filter(({ type }) => type === 'spoken')).toMatchObject([{ interrupted: false }]);
    expect([...asterisk.queue.warnings]).toEqual([]);
  });

  it('stays far from the length at which Asterisk drops sound, however large the lead', async () => {
    const gateway = startCalls({ ...UNFILLED, PLAYOUT_LEAD_MS: '10000' });
    const asterisk = new Asterisk(gateway, { format }).start();
    voiceOf(gateway).say(TEXT.repeat(20));
    await asterisk.pass(600, 0);
    expect(asterisk.queue.highestFrames).toBeGreaterThan(400);
    expect(asterisk.queue.highestFrames).toBeLessThan(900);
  });

  it('is a flush when the caller cuts in, and not a frame is heard after it', async () => {
    const gateway = startCalls(UNFILLED);
    const asterisk = new Asterisk(gateway, { format }).start();
    voiceOf(gateway).say(TEXT.repeat(5));
    await asterisk.pass(500, 0);
    const before = asterisk.heard.length;
    const heard = voiceOf(gateway).interrupt();
    await asterisk.pass(1000, 0);
    expect([asterisk.heard.length - before, heard?.heardText]).toEqual([0, 'Your balance is forty']);
    expect(asterisk.commands.filter((command) => command.includes('FLUSH_MEDIA'))).toHaveLength(1);
  });

  it('is a hang-up when the call is ended here', async () => {
    const gateway = startCalls(UNFILLED);
    const asterisk = new Asterisk(gateway, { format }).start();
    gateway.registry.hangup(ID);
    await asterisk.pass(40, null);
    expect([asterisk.queue.hungUp, asterisk.socket.closedWith?.code]).toEqual([true, 1000]);
  });
});

describe('a first release of chan_websocket, without JSON, marks and channel_id', () => {
  it('gives calls the last part of their channel as a name, and one that comes again a longer one', () => {
    const gateway = startCalls();
    const first = new Asterisk(gateway, { format: 'plain-text', firstRelease: true }).start();
    first.socket.hangUp();
    new Asterisk(gateway, { format: 'plain-text', firstRelease: true }).start();
    expect(gateway.registry.list().map(({ id }) => id)).toEqual(['0x7fe7:WebSocket/trunkline/0x7fe7', '0x7fe7']);
  });

  it('tells what was heard by the ends of bufferings', async () => {
    const gateway = startCalls(UNFILLED);
    const asterisk = new Asterisk(gateway, { format: 'plain-text', firstRelease: true }).start();
    gateway.registry.voice('0x7fe7')?.say('Your balance is forty two dollars.');
    await asterisk.pass(1000, 0);
    expect(gateway.events.filter(({ type }) => type === 'spoken')).toMatchObject([{ interrupted: false }]);
    expect(asterisk.said).toContain('MEDIA_BUFFERING_COMPLETED');
    expect([...asterisk.queue.warnings]).toEqual([]);
  });
});

describe('while there is nothing to say, Asterisk', () => {
  const TEXT = 'Your balance is forty two dollars.';

  it('has silence to play, a little at a time, from the first moment on', async () => {
    const asterisk = new Asterisk(startCalls()).start();
    await asterisk.pass(1000, 0);
    expect(asterisk.heard.length).toBeGreaterThanOrEqual(45);
    expect(
      asterisk.heard.every((frame) => frame.length === frameBytes(LINEAR_16K) && frame.every((byte) => byte === 0)),
    ).toBe(true);
    expect(asterisk.queue.highestFrames).toBeLessThanOrEqual(3);
  });

  it('plays what is said behind no more than 60 ms of it, whole, and without a hole before or after', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway).start();
    await asterisk.pass(500, 0);
    const before = asterisk.heard.length;
    voiceOf(gateway).say(TEXT);
    await asterisk.pass(1500, 0);
    const played = asterisk.heard.slice(before);
    const first = played.findIndex((frame) => frame.some((byte) => byte !== 0));
    expect(first).toBeLessThanOrEqual(3);
    expect(played.filter((frame) => frame.some((byte) => byte !== 0))).toHaveLength(TEXT.length);
    expect(played.length).toBeGreaterThanOrEqual(1500 / FRAME_MS - 3);
    expect(gateway.events.filter(({ type }) => type === 'spoken')).toMatchObject([
      { interrupted: false, heardText: TEXT },
    ]);
  });

  it('plays nothing but silence after a flush, and says at once that the queue was empty', async () => {
    const gateway = startCalls();
    const asterisk = new Asterisk(gateway).start();
    voiceOf(gateway).say(TEXT.repeat(5));
    await asterisk.pass(500, 0);
    const before = asterisk.heard.length;
    voiceOf(gateway).interrupt();
    await asterisk.pass(40, 0);
    expect(asterisk.said).toContain('QUEUE_DRAINED');
    await asterisk.pass(960, 0);
    expect(asterisk.heard.slice(before).every((frame) => frame.every((byte) => byte === 0))).toBe(true);
  });

  it('is sent nothing where it throws our sound away, and nothing any more when the call is over', async () => {
    const gateway = startCalls();
    const listening = new Asterisk(gateway).start({ DIALEDPEERNUMBER: 'trunkline/c(slin16)f(json)d(in)' });
    await listening.pass(500, 0);
    expect(listening.heard).toEqual([]);
    gateway.registry.hangup(ID);
    await listening.pass(100, 0);
    expect(gateway.clock.pending).toBe(0);
  });
});
