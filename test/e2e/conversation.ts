/** A simulated caller who talks with an app through a whole gateway: says sentences, waits for answers, hears them. */
import { decodeG711 } from '../../src/audio/g711.ts';
import { readWav } from '../../src/audio/wav.ts';
import type { FeedEvent, SpokenEvent } from '../../src/calls/feed/events.ts';
import { sleep, systemClock } from '../../src/foundation/clock.ts';
import { MULAW_8K, msToBytes } from '../../src/foundation/units.ts';
import { Microphone } from '../../src/simulator/microphone.ts';
import { type CallReport, TwilioCaller } from '../../src/simulator/twilio-caller.ts';
import { type FeedReader, readFeed } from '../helpers/feed.ts';
import type { GatewayProcess } from '../helpers/gateway.ts';
import { transcribe } from './understanding.ts';

const CALL_MAX_MS = 90_000;
/** What is before it, in µ-law. */
const PAUSE = Buffer.alloc(msToBytes(200, MULAW_8K), 0xff);
/** From the decision to speak to the first sound. */
const BREATH_MS = 60;

/** One call. Times are real: engines speak and hear as they do for people. */
export class Conversation {
  readonly feed: FeedReader;
  readonly caller: TwilioCaller;
  readonly ended: Promise<CallReport>;
  readonly #gateway: GatewayProcess;
  readonly #microphone = new Microphone(CALL_MAX_MS);
  readonly #heard: Uint8Array[] = [];
  readonly #rehearsed = new Map<string, Int16Array>();
  readonly #listeners: (() => void)[] = [];
  /** How many frames had come when the caller cut in last. */
  #cutAt = 0;
  #spoken = 0;
  #finals = 0;

  private constructor(gateway: GatewayProcess, feed: FeedReader) {
    this.#gateway = gateway;
    this.feed = feed;
    this.caller = new TwilioCaller({
      url: `${gateway.url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: this.#microphone.track },
      pace: 'realtime',
      clock: systemClock,
      onAudio: (payload) => {
        this.#heard.push(payload);
        for (const wake of this.#listeners.splice(0)) wake();
      },
      onClear: () => {
        this.#cutAt = this.#heard.length;
      },
    });
    this.ended = this.caller.run();
  }

  /** Calls the gateway. */
  static async begin(gateway: GatewayProcess): Promise<Conversation> {
    return new Conversation(gateway, await readFeed(gateway.url));
  }

  /** Has `text` made beforehand, so that the caller can say it at once. */
  async rehearse(text: string): Promise<void> {
    this.#rehearsed.set(text, await speech(this.#gateway, text));
  }

  /** The caller says `text`, in the gateway's own voice. Returns when it has been said, by its length. */
  async say(text: string): Promise<void> {
    const samples = this.#rehearsed.get(text) ?? (await speech(this.#gateway, text));
    const untilMs = this.#microphone.speak(samples, this.caller.sentMs + BREATH_MS);
    await sleep(systemClock, untilMs - this.caller.sentMs);
  }

  /** Resolves when the caller has listened for `durationMs`, from the next sound on. */
  async listen(durationMs: number): Promise<void> {
    await new Promise<void>((resolve) => this.#listeners.push(resolve));
    await sleep(systemClock, durationMs);
  }

  /** The next thing that was said to the caller, or thrown away. */
  async spoken(): Promise<SpokenEvent> {
    this.#spoken += 1;
    const count = this.#spoken;
    return (await this.#nth('spoken', count)) as SpokenEvent;
  }

  /** What the next final caption of the caller says. */
  async understood(): Promise<string> {
    this.#finals += 1;
    const caption = await this.#nth('final', this.#finals);
    return caption.type === 'caption' ? caption.text : '';
  }

  /** What the gateway's own recogniser makes of all that it sent to the caller. */
  transcribeWhatWasHeard(): Promise<string> {
    return transcribe(this.#gateway, decodeG711(Buffer.concat(this.#heard), MULAW_8K));
  }

  /** The same of what was sent since the caller cut in last. */
  transcribeWhatFollowed(): Promise<string> {
    return transcribe(this.#gateway, decodeG711(Buffer.concat([PAUSE, ...this.#heard.slice(this.#cutAt)]), MULAW_8K));
  }

  #nth(kind: 'spoken' | 'final', count: number): Promise<FeedEvent> {
    let seen = 0;
    return this.feed.until((event) => {
      const isKind =
        event.type === 'spoken' ? kind === 'spoken' : event.type === 'caption' && event.final && kind === 'final';
      if (isKind && event.callId === this.caller.callSid) seen += 1;
      return seen === count;
    });
  }
}

async function speech(gateway: GatewayProcess, input: string): Promise<Int16Array> {
  const response = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'tts-1',
      input,
      voice: 'kal16',
      response_format: 'wav',
      sample_rate: MULAW_8K.rateHz,
    }),
  });
  if (response.status !== 200)
    throw new Error(`the speech was answered with ${response.status}: ${await response.text()}`);
  return readWav(new Uint8Array(await response.arrayBuffer())).channels[0] ?? new Int16Array(0);
}
