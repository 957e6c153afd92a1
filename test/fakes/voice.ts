import type { VoicePart } from '../../src/calls/outbound/utterance-pieces.ts';
import type { CallVoice, OpenUtterance, PlayOptions, SayOptions, VoiceEvent } from '../../src/calls/outbound/voice.ts';
import type { TrunklineError } from '../../src/foundation/errors.ts';

/** Something that a {@link FakeVoice} was asked to say. */
export interface Asked {
  readonly id: string;
  readonly options: SayOptions | PlayOptions;
  text: string;
  ended: boolean;
}

type SpeakingVoice = Pick<
  CallVoice,
  'say' | 'open' | 'play' | 'sayParts' | 'sendDigits' | 'interrupt' | 'onEvent' | 'speaking' | 'drained'
>;

/**
 * A voice that makes no sound: the test says what sounds, is heard, is finished and is interrupted. Like the real one
 * it preempts.
 */
export class FakeVoice implements SpeakingVoice {
  /** All that was asked for, in order. */
  readonly asked: Asked[] = [];
  readonly digits: string[] = [];
  /** While set, whatever is asked for is refused with it. */
  refusal: TrunklineError | RangeError | null = null;
  #queue: Asked[] = [];
  readonly #listeners: ((event: VoiceEvent) => void)[] = [];
  #waiters: (() => void)[] = [];

  get speaking(): boolean {
    return this.#queue.length > 0;
  }

  /** The texts, in order. */
  get texts(): string[] {
    return this.asked.map(({ text }) => text);
  }

  say(text: string, options: SayOptions = {}): string {
    const utterance = this.open(options);
    utterance.write(text);
    utterance.end();
    return utterance.id;
  }

  open(options: SayOptions = {}): OpenUtterance {
    const asked = this.#admit(options);
    return {
      id: asked.id,
      write: (piece) => {
        this.#check();
        asked.text += piece;
      },
      end: () => {
        asked.ended = true;
      },
      // Words end at spaces here.
      cut: () => {
        const at = asked.text.lastIndexOf(' ') + 1;
        if (at === 0) return null;
        const rest = asked.text.slice(at);
        asked.text = asked.text.slice(0, at);
        asked.ended = true;
        return rest;
      },
    };
  }

  play(_samples: Int16Array, _rateHz: number, options: PlayOptions): string {
    const asked = this.#admit(options);
    asked.text = options.label;
    asked.ended = true;
    return asked.id;
  }

  sayParts(parts: readonly VoicePart[], options: SayOptions = {}): string {
    const asked = this.#admit(options);
    asked.text = parts.map((part) => (part.kind === 'pause' ? `[${part.ms} ms]` : part.text)).join(' ');
    asked.ended = true;
    return asked.id;
  }

  sendDigits(digits: string): void {
    this.#check();
    this.digits.push(digits);
  }

  onEvent(listener: (event: VoiceEvent) => void): void {
    this.#listeners.push(listener);
  }

  drained(): Promise<void> {
    return this.speaking ? new Promise((resolve) => this.#waiters.push(resolve)) : Promise.resolve();
  }

  /** The first utterance begins to sound. */
  begin(): void {
    const [first] = this.#queue;
    if (first !== undefined) this.#tell({ type: 'speaking', utterance: first.id });
  }

  /** The first utterance begins and is heard to its end. */
  finish(): void {
    const [first] = this.#queue;
    if (first === undefined) return;
    this.begin();
    this.#queue.shift();
    const { id: utterance, text } = first;
    this.#tell({ type: 'heard', utterance, text });
    this.#tell({ type: 'spoken', utterance, text, heardText: text, interrupted: false, ...this.#times(text) });
    this.#noticeDrained();
  }

  /** Everything is thrown away, the first utterance heard as far as `heardText`. */
  interrupt(heardText = '') {
    const cut = this.#queue.splice(0);
    this.#tellCut(cut, heardText);
    this.#noticeDrained();
    return null;
  }

  /** A voice that was wished for is not there. */
  missVoice(wished: string): void {
    this.#tell({ type: 'voice.missing', wished, used: 'rms' });
  }

  #admit(options: SayOptions | PlayOptions): Asked {
    this.#check();
    const kept = this.#queue.findLastIndex(({ options: { preemptible } }) => preemptible !== true) + 1;
    if (options.goesOn !== true) this.#tellCut(this.#queue.splice(kept), '');
    const asked: Asked = { id: `u${this.asked.length + 1}`, options, text: '', ended: false };
    this.asked.push(asked);
    this.#queue.push(asked);
    return asked;
  }

  #check(): void {
    if (this.refusal !== null) throw this.refusal;
  }

  #tellCut(cut: readonly Asked[], heardText: string): void {
    for (const [index, { id: utterance, text }] of cut.entries()) {
      const heard = index === 0 ? heardText : '';
      this.#tell({ type: 'spoken', utterance, text, heardText: heard, interrupted: true, ...this.#times(heard) });
    }
  }

  /** As if each began where the call did. */
  #times(heard: string): { playedMs: number; startMs: number | null; endMs: number | null } {
    const playedMs = 20 * heard.length;
    return { playedMs, startMs: heard === '' ? null : 0, endMs: heard === '' ? null : playedMs };
  }

  #tell(event: VoiceEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #noticeDrained(): void {
    if (this.speaking) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
