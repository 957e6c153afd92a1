/**
 * What a real Asterisk said, to a whole gateway that talks meanwhile, is interrupted and hangs up: what it answers must
 * be what the simulated one, which is as strict as the real one, takes without a word.
 */
import { describe, expect, it } from 'vitest';
import { AsteriskQueue, type MediaMode } from '../../src/carriers/asterisk/simulator/queue.ts';
import { AsteriskDialect } from '../../src/carriers/asterisk/wire/chan-websocket.ts';
import { FRAME_MS } from '../../src/foundation/units.ts';
import { type RecordedMessage, readRecording, recordingNames } from '../carriers/asterisk/wire/asterisk-recordings.ts';
import { CarrierSocket } from '../fakes/carrier-socket.ts';
import { startCalls } from './harness.ts';
import { turns } from './speaking.ts';

const TEXT = 'Your balance is forty two dollars, and nine of them are new. ';
const COMMAND_MAX_BYTES = 128;
const MESSAGE_MAX_BYTES = 65_500;
const XOFF_FRAMES = 900;
const INTERRUPT_AT_MS = 500;
/** Longer ones only go on as they began. */
const PLAYED_MS = 2000;

/** The first channel of a recording, as Asterisk said it. */
function channelOf(name: string): { start: string; messages: RecordedMessage[] } {
  const said = readRecording(name).filter(({ fromAsterisk }) => fromAsterisk);
  const isStart = ({ message }: RecordedMessage): boolean =>
    typeof message === 'string' && message.includes('MEDIA_START');
  const from = said.findIndex(isStart);
  const next = said.findIndex((message, index) => index > from && isStart(message));
  const messages = from < 0 ? [] : said.slice(from, next < 0 ? undefined : next);
  return { start: String(messages[0]?.message ?? ''), messages };
}

function mediaMode(start: string): MediaMode {
  if (start.includes('d(in)')) return 'dropped';
  return /\)p"/.test(start) ? 'passed' : 'queued';
}

const IS_TAKEN = /"?format"?:"?(?:ulaw|alaw|slin\d*)\b/;
const CHANNELS = recordingNames()
  .map((name) => ({ name, ...channelOf(name) }))
  .filter(({ start }) => IS_TAKEN.test(start));

/** A gateway on one end, the queue that its answers go to on the other. */
class Line {
  readonly gateway = startCalls();
  readonly queue: AsteriskQueue;
  readonly id: string;
  readonly errors: string[] = [];
  readonly sent: readonly (string | Uint8Array)[];
  /** Frames with sound that the far party heard. */
  loud = 0;
  readonly #socket = new CarrierSocket();
  #read = 0;

  constructor(start: string) {
    const format = start.startsWith('{') ? 'json' : 'plain-text';
    this.id = /channel_id"?:"?([^"\s,]+)/.exec(start)?.[1] ?? '';
    const frameBytes = Number(/optimal_frame_size"?:(\d+)/.exec(start)?.[1]);
    this.queue = new AsteriskQueue({ frameBytes, format, channelId: this.id, media: mediaMode(start) });
    this.sent = this.#socket.sent;
    this.gateway.webSockets.accept(this.#socket.asWebSocket, new AsteriskDialect(), {
      trusted: true,
      fillSilence: true,
    });
  }

  say(message: string | Uint8Array): void {
    this.#socket.emit('message', Buffer.from(message as Uint8Array), typeof message !== 'string');
  }

  /** Takes what was sent, and 20 ms go by in the queue. */
  listen(): void {
    const hear = (frame: Uint8Array): void => {
      if (frame.some((byte) => byte !== 0 && byte !== 0xff && byte !== 0xd5)) this.loud++;
    };
    for (; this.#read < this.sent.length; this.#read++) {
      const message = this.sent[this.#read] ?? '';
      this.#answer(
        typeof message === 'string' ? this.queue.receiveText(message) : this.queue.receiveAudio(message, hear),
      );
    }
    this.#answer(this.queue.tick(hear));
  }

  #answer(texts: readonly string[]): void {
    for (const text of texts) {
      if (text.includes('ERROR')) this.errors.push(text);
      this.say(text);
    }
  }
}

/**
 * The call, in which we talk, are interrupted after a while, and hang up; with how much was heard before and after the
 * interruption.
 */
async function play({ start, messages }: (typeof CHANNELS)[number]) {
  const line = new Line(start);
  const { gateway, id } = line;
  const [first, ...rest] = messages;
  line.say(start);
  const voice = gateway.registry.voice(id);
  if (mediaMode(start) !== 'dropped') voice?.say(TEXT.repeat(3));
  let [before, after] = [0, 0];
  for (let atMs = 0; atMs < PLAYED_MS; atMs += FRAME_MS) {
    gateway.clock.advance(FRAME_MS);
    while (rest[0] !== undefined && rest[0].atMs - (first?.atMs ?? 0) <= atMs) {
      const { message = '' } = rest.shift() ?? {};
      // What it said of its queue it said to another app.
      if (typeof message !== 'string' || message.includes('DTMF')) line.say(message);
    }
    if (atMs === INTERRUPT_AT_MS) {
      before = line.loud;
      voice?.interrupt();
    }
    line.listen();
    if (atMs === INTERRUPT_AT_MS) after = line.loud;
    await turns();
  }
  gateway.registry.hangup(id);
  await turns();
  gateway.clock.advance(1000);
  for (let n = 0; n < 5; n++) await turns();
  line.listen();
  return { line, before, after: line.loud - after };
}

describe('what a gateway answers to a real Asterisk', () => {
  it('is looked at in most recordings', () => expect(CHANNELS.length).toBeGreaterThan(70));

  it.each(CHANNELS.map((channel) => [channel.name, channel] as const))('%s', async (_name, channel) => {
    const { line, before, after } = await play(channel);
    const { gateway, queue, sent, errors, id } = line;
    const talks = mediaMode(channel.start) !== 'dropped';
    const commands = sent.filter((message) => typeof message === 'string');
    expect(commands[0]).toMatch(/^(?:ANSWER|\{"command":"ANSWER"\})$/);
    expect(commands.at(-1)).toMatch(/^(?:HANGUP|\{"command":"HANGUP"\})$/);
    for (const command of commands) {
      expect(command.startsWith('{')).toBe(channel.start.startsWith('{'));
      expect(Buffer.byteLength(command)).toBeLessThanOrEqual(COMMAND_MAX_BYTES);
    }
    const sound = sent.filter((message) => typeof message !== 'string');
    expect(Math.max(0, ...sound.map(({ length }) => length))).toBeLessThanOrEqual(MESSAGE_MAX_BYTES);
    expect([[...queue.warnings], errors, queue.hungUp]).toEqual([[], [], true]);
    expect(queue.highestFrames).toBeLessThan(XOFF_FRAMES);
    expect([before > 0, after, sound.length > 0]).toEqual([talks, 0, talks]);
    expect(gateway.events.at(-1)).toMatchObject({ type: 'call.ended', callId: id, reason: 'api' });
    expect(gateway.clock.pending).toBe(0);
  });
});
