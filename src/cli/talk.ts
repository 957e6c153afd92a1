/**
 * `trunkline demo --talk`: a simulated caller talks with the echo app in three turns and interrupts the second answer.
 */
import { randomUUID } from 'node:crypto';
import type { FeedEvent, SpokenEvent } from '../calls/feed/events.ts';
import { sleep, systemClock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import type { Gateway } from '../gateway/main.ts';
import { Microphone } from '../simulator/microphone.ts';
import { type CallReport, TwilioCaller } from '../simulator/twilio-caller.ts';
import { callerSpeech } from './caller-speech.ts';
import { appHead, CaptionDisplay } from './caption-display.ts';
import { openFeed } from './feed-client.ts';
import { quantile } from './latencies.ts';
import { TALK_LINES, TALK_VOICE } from './talk-lines.ts';
import type { Output } from './terminal.ts';

/** The caller hangs up after this time. */
const CALL_MAX_MS = 90_000;
/** The pause between the end of an answer and the caller's next words. */
const PAUSE_MS = 500;
/** How much of the second answer the caller listens to. */
const LISTEN_MS = 1500;

/** The output of the talk, and the settings of its gateway. */
export interface TalkOptions {
  readonly settings: Pick<Settings, 'ENDPOINT_MS' | 'POST_ROLL_MS'>;
  readonly out: Output;
}

/** The result of a talk. */
export interface TalkReport {
  readonly call: CallReport;
  /** What the app said to the caller, in order. */
  readonly spoken: readonly SpokenEvent[];
}

/**
 * Places the call with the `gateway`, whose app is the echo app, and shows what both sides say while they speak.
 * @throws Error when the call ends too early
 */
export async function runTalk(gateway: Gateway, options: TalkOptions): Promise<TalkReport> {
  const talk = await Talk.begin(gateway, options);
  try {
    await talk.hold();
    return await talk.end();
  } finally {
    talk.close();
  }
}

type Voices = Readonly<Record<keyof typeof TALK_LINES, Int16Array>>;

class Talk {
  readonly #voices: Voices;
  readonly #settings: TalkOptions['settings'];
  readonly #out: Output;
  readonly #display: CaptionDisplay;
  readonly #microphone = new Microphone(CALL_MAX_MS);
  readonly #caller: TwilioCaller;
  readonly #spoken: SpokenEvent[] = [];
  /** The times from the caller's last word to the first sound of the answer, in ms. */
  readonly #answerMs: number[] = [];
  /** When the caller said the last word that is not answered yet. */
  #lastWordAtMs: number | null = null;
  /** The time of the call at which the app began the current utterance. */
  #appSinceMs: number | null = null;
  #over = false;
  #listeners: (() => void)[] = [];
  #call: Promise<CallReport> | null = null;
  #closeFeed: () => void = () => undefined;
  #ended: Promise<void> = Promise.resolve();

  private constructor(gateway: Gateway, voices: Voices, { settings, out }: TalkOptions) {
    this.#settings = settings;
    this.#voices = voices;
    this.#out = out;
    this.#display = new CaptionDisplay(out);
    this.#caller = new TwilioCaller({
      url: `${gateway.url.replace(/^http/, 'ws')}/twilio/media`,
      tracks: { inbound: this.#microphone.track },
      pace: 'realtime',
      clock: systemClock,
      callSid: `CA${randomUUID().replaceAll('-', '')}`,
      from: '+15550100',
      to: '+15550199',
      onAudio: () => this.#onAudio(),
    });
  }

  /** Synthesizes the caller's lines, then calls. */
  static async begin(gateway: Gateway, options: TalkOptions): Promise<Talk> {
    const lines = Object.entries(TALK_LINES).map(
      async ([name, text]) => [name, await callerSpeech(gateway.url, text, TALK_VOICE)] as const,
    );
    const talk = new Talk(gateway, Object.fromEntries(await Promise.all(lines)) as unknown as Voices, options);
    const feed = await openFeed(gateway.url, talk.#caller.callSid, (event) => talk.#note(event));
    talk.#closeFeed = () => feed.close();
    talk.#ended = feed.callEnded;
    talk.#call = talk.#caller.run();
    talk.#call.catch(() => undefined).finally(() => talk.#onOver());
    return talk;
  }

  /** Three turns: the caller listens to the first answer, interrupts the second one and gets an answer to that. */
  async hold(): Promise<void> {
    await this.#untilSpoken(1);
    await this.#say('first');
    await this.#untilSpoken(2);
    await this.#say('second');
    await this.#untilAnswered(2);
    await sleep(systemClock, LISTEN_MS);
    await this.#say('interruption', 0);
    await this.#untilSpoken(4);
    await this.#say('last');
  }

  /** Waits for the end of the call, by the app or after CALL_MAX_MS. */
  async end(): Promise<TalkReport> {
    const call = await this.#call;
    if (call === null) throw new Error('the call has not begun');
    await this.#ended;
    this.#printAnswers();
    return { call, spoken: this.#spoken };
  }

  /** Ends the call and its display, also after an error. */
  close(): void {
    this.#display.end();
    this.#caller.drop();
    this.#closeFeed();
  }

  async #say(line: keyof typeof TALK_LINES, pauseMs = PAUSE_MS): Promise<void> {
    const startMs = this.#caller.sentMs + pauseMs;
    const endMs = this.#microphone.speak(this.#voices[line], startMs);
    await sleep(systemClock, endMs - this.#caller.sentMs);
  }

  #untilSpoken(count: number): Promise<void> {
    return this.#until(() => this.#spoken.length >= count);
  }

  /** Until the caller receives the first sound of answer number `count`. */
  #untilAnswered(count: number): Promise<void> {
    return this.#until(() => this.#answerMs.length >= count);
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.#over) throw new Error('the call ended before the talk was over');
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  #note(event: FeedEvent): void {
    if (event.type === 'caption') {
      this.#display.show(event);
      if (event.final && event.text !== '')
        this.#lastWordAtMs = systemClock.nowMs() - event.lagMs - this.#settings.POST_ROLL_MS;
    }
    if (event.type === 'revision') this.#display.showRevision(event);
    if (event.type === 'spoken') {
      this.#spoken.push(event);
      this.#out.line(appHead(this.#appSinceMs ?? event.atMs) + markUnheard(event));
      this.#appSinceMs = null;
    }
    this.#wake();
  }

  #onAudio(): void {
    this.#appSinceMs ??= this.#caller.sentMs;
    if (this.#lastWordAtMs === null) return;
    this.#answerMs.push(systemClock.nowMs() - this.#lastWordAtMs);
    this.#lastWordAtMs = null;
    this.#wake();
  }

  #onOver(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#listeners.splice(0)) wake();
  }

  #printAnswers(): void {
    const figures = this.#answerMs.map((ms) => `${Math.round(ms)} ms`).join(', ');
    const median = Math.round(quantile(this.#answerMs, 0.5) ?? 0);
    this.#out.line();
    this.#out.line(
      `${this.#out.bold('Answers')}  from the caller's last word to their first sound: ${figures} (median ` +
        `${median} ms)`,
    );
    this.#out.line(
      this.#out.dim(
        `  ${this.#settings.ENDPOINT_MS} ms of each are the silence that ends the caller's utterance (ENDPOINT_MS)`,
      ),
    );
  }
}

/** The app's text. The part that the caller did not hear is in brackets. */
function markUnheard({ text, heardText, interrupted }: SpokenEvent): string {
  return interrupted ? `${heardText} [${text.slice(heardText.length).trim()}]` : text;
}
