/** A call of FreeSWITCH on a clock of the test: sound without times, captions back, and both ways of being heard. */
import { describe, expect, it } from 'vitest';
import { FreeSwitchDialect } from '../../src/carriers/freeswitch/wire/freeswitch.ts';
import type { FreeSwitchQuery } from '../../src/carriers/freeswitch/wire/query.ts';
import { FRAME_MS } from '../../src/foundation/units.ts';
import type { WireMessage } from '../../src/protocols/dialect.ts';
import { CarrierSocket } from '../fakes/carrier-socket.ts';
import { type Gateway, startCalls } from './harness.ts';
import { CHAR_MS, turns } from './speaking.ts';

const LOUD = 8000;
const FRAME_SAMPLES = 160;
const TEXT = 'We are open from ten to six on all days but one.';

interface Told {
  readonly type: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A module of FreeSWITCH in the hand of the test. */
class Module {
  readonly gateway: Gateway = startCalls();
  readonly socket = new CarrierSocket();
  readonly #channels: number;

  constructor(query: FreeSwitchQuery = {}) {
    this.#channels = query.mix === 'stereo' ? 2 : 1;
    const dialect = new FreeSwitchDialect({ streamId: 'ours', ...query });
    this.gateway.webSockets.accept(this.socket.asWebSocket, dialect, { trusted: true, fillSilence: true });
    this.socket.receive({ uuid: 'channel-1', from: '100' });
  }

  get sent(): readonly WireMessage[] {
    return this.socket.sent;
  }

  get told(): Told[] {
    return this.sent.filter((each) => typeof each === 'string').map((each) => JSON.parse(each) as Told);
  }

  /** Messages of sound, and how many of them are silent. */
  get frames(): { readonly all: number; readonly silent: number } {
    const frames = this.sent.filter((each) => typeof each !== 'string');
    return { all: frames.length, silent: frames.filter((each) => each.every((byte) => byte === 0)).length };
  }

  get spoken() {
    return this.gateway.events.filter((event) => event.type === 'spoken');
  }

  say(text: string): void {
    this.gateway.registry.voice('channel-1')?.say(text);
  }

  /** `durationMs` go by, in which the party of `channel` is as loud as `level`. */
  async pass(durationMs: number, level = 0, channel = 0): Promise<void> {
    const samples = Int16Array.from({ length: FRAME_SAMPLES * this.#channels }, (_, at) => {
      if (at % this.#channels !== channel) return 0;
      return (Math.floor(at / this.#channels) & 4) === 0 ? level : -level;
    });
    await turns();
    for (let passedMs = 0; passedMs < durationMs; passedMs += FRAME_MS) {
      this.gateway.clock.advance(FRAME_MS);
      this.socket.emit('message', Buffer.from(samples.buffer), true);
      await turns();
    }
  }
}

describe('a call of FreeSWITCH', () => {
  it('that only listens tells the final captions of both parties, and the end of the call', async () => {
    const module = new Module({ mix: 'stereo' });
    await module.pass(800, LOUD, 0);
    await module.pass(800);
    await module.pass(800, LOUD, 1);
    await module.pass(800);
    expect(module.told.map(({ type, data }) => [type, data?.['track'], data?.['text']])).toEqual([
      ['transcription', 'inbound', 'secret words'],
      ['transcription', 'outbound', 'secret words'],
    ]);
    module.gateway.registry.hangup('channel-1');
    expect(module.told.at(-1)).toEqual({ type: 'disconnect' });
  });

  it('plays frames when they are due, and silence between them, without any mark', async () => {
    const module = new Module({ play: 'binary' });
    await module.pass(1000);
    const before = module.frames;
    expect(before.silent).toBe(before.all);
    expect(before.all).toBeGreaterThan(40);
    module.say(TEXT);
    await module.pass(TEXT.length * CHAR_MS + 500);
    expect(module.spoken).toMatchObject([{ heardText: TEXT, interrupted: false }]);
    const { all, silent } = module.frames;
    expect(all - silent).toBe((TEXT.length * CHAR_MS) / FRAME_MS);
    expect(module.told).toEqual([]);
  });

  it('gets a sentence as one file as soon as it is made, and is believed when it says that it was played', async () => {
    const module = new Module({ play: 'streamAudio' });
    module.say(TEXT);
    await module.pass(100);
    const [file] = module.told;
    expect(module.told).toMatchObject([{ type: 'streamAudio', data: { audioDataType: 'raw', sampleRate: 8000 } }]);
    const bytes = Buffer.from(String(file?.data?.['audioData']), 'base64');
    expect(bytes.length / 16).toBe(TEXT.length * CHAR_MS);
    await module.pass(TEXT.length * CHAR_MS + 300);
    expect(module.spoken).toEqual([]);
    module.socket.receive({ type: 'playDone', data: { id: file?.data?.['id'] } });
    await module.pass(FRAME_MS);
    expect(module.spoken).toMatchObject([{ heardText: TEXT, interrupted: false }]);
    expect(module.frames.all).toBe(0);
  });

  it('is told to fall silent when the caller cuts in', async () => {
    const module = new Module({ play: 'playAudio' });
    module.say(`${TEXT} ${TEXT}`);
    await module.pass(600);
    await module.pass(800, LOUD);
    await module.pass(1000);
    expect(module.told.map(({ type }) => type).filter((type) => type !== 'transcription')).toContain('killAudio');
    expect(module.spoken).toMatchObject([{ interrupted: true }]);
  });
});
