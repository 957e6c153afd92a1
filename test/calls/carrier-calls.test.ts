/**
 * Calls of each carrier from beginning to end on a clock of the test: what was heard is held against what the carrier
 * played.
 */
import { describe, expect, it } from 'vitest';
import type { SpokenEvent } from '../../src/calls/feed/events.ts';
import { ExotelDialect } from '../../src/carriers/exotel/wire/exotel.ts';
import { PlivoDialect } from '../../src/carriers/plivo/wire/plivo.ts';
import { SignalWireDialect } from '../../src/carriers/signalwire/wire/signalwire.ts';
import { TelnyxDialect } from '../../src/carriers/telnyx/wire/telnyx.ts';
import { VonageDialect } from '../../src/carriers/vonage/wire/vonage.ts';
import { FRAME_MS, msToSamples } from '../../src/foundation/units.ts';
import type { Dialect, WireMessage } from '../../src/protocols/dialect.ts';
import { CarrierSocket } from '../fakes/carrier-socket.ts';
import { CarrierCaller } from '../helpers/carrier-caller.ts';
import { CARRIER_LINES, type CarrierLine } from '../helpers/carrier-lines.ts';
import { type Gateway, startCalls } from './harness.ts';
import { CHAR_MS, turns } from './speaking.ts';

const LOUD = 8000;
/** In short words, for what was heard is told in whole ones. */
const TEXT = 'We are open from ten to six on all days but one.';
const LONGEST_WORD = 4;

const DIALECTS: Readonly<Record<string, () => Dialect>> = {
  telnyx: () => new TelnyxDialect({ bigEndian: false }),
  signalwire: () => new SignalWireDialect({ bigEndian: false }),
  plivo: () => new PlivoDialect({ bigEndian: false }),
  vonage: () => new VonageDialect({ streamId: 'ours' }),
  exotel: () => new ExotelDialect(),
};

/** A call on a gateway whose clock is the test's. */
class Call {
  readonly gateway: Gateway;
  readonly caller: CarrierCaller;
  readonly #line: CarrierLine;
  readonly #socket = new CarrierSocket();
  #read = 0;

  constructor(line: CarrierLine, parameters: Record<string, string> = {}) {
    this.#line = line;
    this.gateway = startCalls();
    this.caller = new CarrierCaller({ line, send: (message) => this.#say(message) });
    const dialect = DIALECTS[line.carrier]?.();
    if (dialect === undefined) throw new Error(`add ${line.carrier} to DIALECTS in test/calls/carrier-calls.test.ts`);
    this.gateway.webSockets.accept(this.#socket.asWebSocket, dialect, { trusted: true });
    this.caller.start(parameters);
  }

  get id(): string {
    return this.#line.callId ?? 'ours';
  }

  get voice() {
    const voice = this.gateway.registry.voice(this.id);
    if (voice === undefined) throw new Error('there is no live call');
    return voice;
  }

  get spoken(): SpokenEvent[] {
    return this.gateway.events.filter((event) => event.type === 'spoken');
  }

  get finals(): string[] {
    return this.gateway.events.flatMap((event) => (event.type === 'caption' && event.final ? [event.text] : []));
  }

  /** `durationMs` go by, in which the caller is as loud as `level`. */
  async pass(durationMs: number, level = 0): Promise<void> {
    const samples = Int16Array.from({ length: msToSamples(FRAME_MS, this.#line.codec.rateHz) }, (_, i) =>
      (i & 4) === 0 ? level : -level,
    );
    await turns();
    for (let passedMs = 0; passedMs < durationMs; passedMs += FRAME_MS) {
      this.gateway.clock.advance(FRAME_MS);
      this.caller.advance(FRAME_MS);
      this.caller.speak(samples);
      await turns();
      this.#listen();
    }
  }

  hangUp(): void {
    this.caller.stop();
    this.#socket.hangUp(1000);
  }

  #say(message: WireMessage): void {
    this.#socket.emit('message', Buffer.from(message as string), typeof message !== 'string');
  }

  #listen(): void {
    const sent: readonly WireMessage[] = this.#socket.sent;
    for (; this.#read < sent.length; this.#read++) this.caller.receive(sent[this.#read] ?? '');
  }
}

describe.each(CARRIER_LINES.map((line) => [line.carrier, line] as const))('a call of %s', (carrier, line) => {
  it('is captioned, tells keys, and ends when the caller hangs up', async () => {
    const call = new Call(line);
    await call.pass(800, LOUD);
    await call.pass(800);
    call.caller.press('5');
    expect(call.gateway.registry.get(call.id)).toMatchObject({ carrier, state: 'live' });
    expect(call.finals).toEqual(['secret words']);
    expect(call.gateway.events.find(({ type }) => type === 'dtmf')).toMatchObject({ digit: '5' });
    call.hangUp();
    await call.pass(100);
    expect(call.gateway.events.at(-1)).toMatchObject({ type: 'call.ended', durationMs: 1600 });
  });

  it('takes the custom data that the operator gave', async () => {
    const call = new Call(line, { bargeIn: 'off', token: 'x' });
    call.voice.say(TEXT);
    await call.pass(700, LOUD);
    await call.pass(2000);
    expect(call.spoken).toMatchObject([{ interrupted: false }]);
  });

  it('hears a sentence to its end, and that is told when the carrier says so', async () => {
    const call = new Call(line);
    call.voice.say(TEXT);
    await call.pass(TEXT.length * CHAR_MS - 100);
    expect(call.spoken).toEqual([]);
    await call.pass(700);
    expect(call.spoken).toMatchObject([{ text: TEXT, heardText: TEXT, interrupted: false }]);
    expect(call.caller.heardMs).toBeGreaterThanOrEqual(TEXT.length * CHAR_MS);
    expect(call.caller.clears).toBe(0);
  });

  it('falls silent at once when the caller cuts in, and knows what was heard', async () => {
    const call = new Call(line);
    call.voice.say(`${TEXT} ${TEXT}`);
    await call.pass(600);
    await call.pass(800, LOUD);
    const { heardMs, clears } = call.caller;
    await call.pass(1000);
    expect([call.caller.heardMs - heardMs, clears]).toEqual([0, 1]);
    const [spoken] = call.spoken;
    expect(spoken).toMatchObject({ interrupted: true });
    // Never a word more than was played, and at most one less.
    const played = `${TEXT} ${TEXT}`.slice(0, Math.ceil(heardMs / CHAR_MS));
    expect(played.startsWith(spoken?.heardText ?? '?')).toBe(true);
    expect(played.length - (spoken?.heardText.length ?? 0)).toBeLessThanOrEqual(LONGEST_WORD + 1);
  });

  it('can be spoken to again after an interruption', async () => {
    const call = new Call(line);
    call.voice.say(`${TEXT} ${TEXT}`);
    await call.pass(500);
    call.voice.interrupt();
    await call.pass(100);
    call.caller.heardMs = 0;
    call.voice.say(TEXT);
    await call.pass(TEXT.length * CHAR_MS + 600);
    expect(call.spoken.at(-1)).toMatchObject({ heardText: TEXT, interrupted: false });
    expect(call.caller.heardMs - TEXT.length * CHAR_MS).toBeLessThanOrEqual(180);
  });
});

describe('a call of telnyx', () => {
  it('says which tracks may come, and captions each of them', async () => {
    const [telnyx] = CARRIER_LINES;
    if (telnyx === undefined) throw new Error('no such line');
    const both: CarrierLine = {
      ...telnyx,
      media: (bytes, n, atMs) => String(telnyx.media(bytes, n, atMs)).replace('"inbound"', '"outbound"'),
    };
    const call = new Call(both);
    await call.pass(800, LOUD);
    await call.pass(800);
    expect(call.gateway.events[0]).toMatchObject({ type: 'call.started', tracks: ['inbound', 'outbound'] });
    expect(call.gateway.events.find((event) => event.type === 'caption' && event.final)).toMatchObject({
      track: 'outbound',
    });
  });
});
