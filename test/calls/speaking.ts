/** One call's voice on a fake clock, with a fake engine and a pretend carrier. */
import type { Interruptible } from '../../src/calls/outbound/barge-in.ts';
import { CallVoice, type VoiceEvent } from '../../src/calls/outbound/voice.ts';
import { FRAME_MS, MULAW_8K } from '../../src/foundation/units.ts';
import type { CarrierCommand, Playback } from '../../src/protocols/dialect.ts';
import type { FakeClock } from '../fakes/clock.ts';
import type { FakeEngine } from '../fakes/engine.ts';
import { BufferingPlayer } from '../fakes/player.ts';
import { type Gateway, startCalls } from './harness.ts';

/** How long {@link FakeEngine} speaks at a character. */
export const CHAR_MS = 20;

interface SpeakingOptions {
  readonly playback?: Playback;
  readonly bargeIn?: Interruptible;
  /** The pretend carrier's way there, and back. */
  readonly wayMs?: number;
  readonly losesMark?: (n: number) => boolean;
  readonly environment?: Record<string, string>;
}

export type Spoken = Extract<VoiceEvent, { type: 'spoken' }>;

export class Speaking {
  readonly gateway: Gateway;
  readonly clock: FakeClock;
  readonly engine: FakeEngine;
  readonly player: BufferingPlayer;
  readonly voice: CallVoice;
  readonly events: VoiceEvent[] = [];
  /** Keys and commands with the time at which they left. */
  readonly pressed: { readonly digit: string; readonly atMs: number }[] = [];
  readonly sent: { readonly command: CarrierCommand; readonly atMs: number }[] = [];

  /** The caller's. */
  language: string | null = null;

  constructor({
    playback = 'buffered',
    bargeIn = 'any',
    wayMs = 0,
    losesMark = () => false,
    environment = {},
  }: SpeakingOptions = {}) {
    this.gateway = startCalls(environment);
    this.clock = this.gateway.clock;
    this.engine = this.gateway.engine;
    const { clock } = this;
    this.player = new BufferingPlayer({
      clock,
      frameMs: FRAME_MS,
      wayMs,
      losesMark,
      onMark: (name) => this.voice.onMark(name),
    });
    this.voice = new CallVoice({
      codec: MULAW_8K,
      carrier: 'pretend',
      playback,
      bargeIn,
      callerEndpointMs: () => this.gateway.context.settings.ENDPOINT_MS,
      context: this.gateway.context,
      log: this.gateway.context.log,
      callMs: () => clock.nowMs(),
      language: () => this.language,
      send: (command) => {
        this.sent.push({ command, atMs: clock.nowMs() });
        if (playback === 'buffered') this.player.send(command);
      },
      press: (digit) => void this.pressed.push({ digit, atMs: clock.nowMs() }),
      onFailure: (error) => {
        throw error;
      },
    });
    this.voice.onEvent((event) => this.events.push(event));
  }

  /** Lets `durationMs` pass; work that is done in turns gets them. */
  async run(durationMs: number, stepMs = 10): Promise<void> {
    await turns();
    for (let leftMs = durationMs; leftMs > 0; leftMs -= stepMs) {
      this.clock.advance(Math.min(stepMs, leftMs));
      await turns();
    }
  }

  get frames(): number {
    return this.sent.filter(({ command }) => command.type === 'audio').length;
  }

  get framesAtMs(): number[] {
    return this.sent.flatMap(({ command, atMs }) => (command.type === 'audio' ? [atMs] : []));
  }

  get clears(): number {
    return this.sent.filter(({ command }) => command.type === 'clear').length;
  }

  get spoken(): Spoken[] {
    return this.events.filter((event) => event.type === 'spoken');
  }

  /** The events, each in a few words. */
  get story(): string[] {
    return this.events.map((event) => {
      if (event.type === 'speaking') return `speaking ${event.utterance}`;
      if (event.type === 'voice.missing') return `missing ${event.wished}`;
      if (event.type === 'refused') return `refused ${event.utterance}`;
      if (event.type === 'heard') return `heard "${event.text}"`;
      return `${event.interrupted ? 'interrupted' : 'spoken'} ${event.utterance} "${event.heardText}"`;
    });
  }
}

/** Lets promises settle, and what waits for its turn have it. */
export async function turns(): Promise<void> {
  for (let n = 0; n < 3; n++) await new Promise((resolve) => setImmediate(resolve));
}
