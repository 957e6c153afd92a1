import { ENGINE_RATE_HZ } from '../../engine/contract.ts';
import type { Clock } from '../foundation/clock.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { msToSamples } from '../foundation/units.ts';
import type { Caption, Revision } from './captions.ts';
import { type Decoded, type Decoder, type Draft, newStream } from './decoder.ts';
import { type EndedUtterance, keepTold, splice, splitReading } from './spliced-utterances.ts';
import { splitWords } from './words.ts';

/** Longest joint reading, pauses not counted: 12 s gave 5.4 % WER, 16 s 4.6 %, for a fifth more work. */
const LENGTH_MAX_MS = 16_000;
/** A call may wait for its last joint reading. */
const WAIT_MAX_MS = 2000;
/** Above this share of busy engine time a group is read once, when it is complete, and above the second not at all. */
const BUSY_LOAD = 0.5;
const FULL_LOAD = 0.75;
/** Groups that may wait for the reading that is under way. */
const WAITING_MAX = 2;

/** A joint reading with less than this share of the words that are known lost its place. */
const WORDS_SHARE_MIN = 0.5;

/** Utterances that are to be read together, in order. */
export type JointGroup = readonly EndedUtterance[];

/** What became of a joint reading: it changed a text, it changed none, or there was no time for it. */
export type JointOutcome = 'revised' | 'unchanged' | 'dropped';

interface JointReadingsOptions {
  readonly decoder: Decoder;
  readonly clock: Clock;
  readonly settings: Pick<Settings, 'JOIN_MS'>;
  /** Takes a revision, or the final of an utterance that had no words and no final until now. */
  readonly emit: (event: Revision | Caption) => void;
  /** The number of the last utterance whose final is out: finals leave in order. */
  readonly lastFinal: () => number;
  /** Ms since the sound before sample number `at` came. */
  readonly lagMs: (at: number) => number;
  readonly onRead: (outcome: JointOutcome) => void;
  /** No reading is under way any more. */
  readonly onIdle: () => void;
}

interface WaitingGroup {
  readonly group: JointGroup;
  /** A reading of it that is under way. */
  readonly late: Promise<Decoded> | null;
}

/** The last reading of groups that begin with `head`; they are one stream. */
interface LastReading {
  readonly head: EndedUtterance | undefined;
  readonly draft: Draft;
  readonly stream: number;
}

const NO_DRAFT: Draft = { draft: [] };

/** A reading that was begun in the last pause, for the case that the utterance ends there. */
interface Prepared {
  readonly group: JointGroup;
  readonly controller: AbortController;
  readonly result: Promise<Decoded>;
}

/**
 * Reads utterances again, together with those before them: a pause inside a phrase ends an utterance, and each part
 * alone is recognised worse than the phrase. A group goes on while at most JOIN_MS lie between two utterances, and as
 * far as {@link LENGTH_MAX_MS}. It is read after each final in it, the tokens of the reading before being the draft.
 * The pauses between utterances are left out, for the recogniser loses words at long ones. Where somebody waits for
 * the reading it is begun in the pause that may end the utterance.
 */
export class JointReadings {
  readonly #options: JointReadingsOptions;
  readonly #joinSamples: number;
  #group: JointGroup = [];
  /** Something before this sample is missing: it is not read together with what comes after it. */
  #partedAt = 0;
  /** The group that is to be read when it is complete. */
  #deferred: JointGroup | null = null;
  #waiting: WaitingGroup[] = [];
  #prepared: Prepared | null = null;
  #running: Promise<void> | null = null;
  #last: LastReading = { head: undefined, draft: NO_DRAFT, stream: 0 };
  readonly #life = new AbortController();

  constructor(options: JointReadingsOptions) {
    this.#options = options;
    this.#joinSamples = msToSamples(options.settings.JOIN_MS, ENGINE_RATE_HZ);
  }

  /** The utterance ends like this unless speech resumes: begins the reading that would then be {@link read}. */
  prepare(utterance: EndedUtterance): void {
    if (this.#group.length === 0 || !this.#takes(utterance) || this.#options.decoder.finalLoad > BUSY_LOAD) return;
    this.unprepare();
    const group = [...this.#group, utterance];
    const controller = new AbortController();
    this.#prepared = { group, controller, result: this.#decode(group, controller.signal) };
  }

  /** Speech has resumed. */
  unprepare(): void {
    this.#prepared?.controller.abort();
    this.#prepared = null;
  }

  /** Takes an utterance that is over, in order. Gives the group to be {@link read} when its final is out, if any. */
  join(utterance: EndedUtterance): JointGroup | null {
    if (this.#joinSamples === 0) return null;
    if (!isSame(this.#prepared?.group.at(-1), utterance)) this.unprepare();
    if (!this.#takes(utterance)) this.#complete();
    this.#group = [...this.#group, utterance];
    return this.#group.length < 2 ? null : this.#group;
  }

  /** Nobody speaks, and no speech begins before sample number `at`. */
  noteSilence(at: number): void {
    const last = this.#group.at(-1);
    if (last !== undefined && at - last.speechTo > this.#joinSamples) this.#complete();
  }

  /** Something is missing before sample number `at`. */
  part(at: number): void {
    this.#partedAt = Math.max(this.#partedAt, at);
  }

  /** Reads a group whose finals are out, at once or later. */
  read(group: JointGroup): void {
    const isComplete = group !== this.#group;
    if (this.#options.decoder.finalLoad > BUSY_LOAD && !isComplete) this.#deferred = group;
    else this.#begin(group);
  }

  /**
   * Reads an utterance again whose final is out and is not by the recogniser of finals. `late` is that one's reading,
   * where it is under way.
   */
  readAlone(utterance: EndedUtterance, late: Promise<Decoded> | null): void {
    this.#begin([utterance], late);
  }

  /** Whether a reading is under way, or waits for one that is. */
  get isReading(): boolean {
    return this.#running !== null;
  }

  /** No utterance follows. Resolves when every reading is done or given up. */
  async settled(): Promise<void> {
    this.#complete();
    await this.#running;
  }

  /** Gives up all readings. */
  close(): void {
    this.#group = [];
    this.#deferred = null;
    this.#waiting = [];
    this.unprepare();
    this.#life.abort();
  }

  #takes(utterance: EndedUtterance): boolean {
    const last = this.#group.at(-1);
    if (last === undefined || last.speechFrom < this.#partedAt) return false;
    const length = this.#group.reduce((sum, { samples }) => sum + samples.length, utterance.samples.length);
    return (
      utterance.speechFrom - last.speechTo <= this.#joinSamples && length <= msToSamples(LENGTH_MAX_MS, ENGINE_RATE_HZ)
    );
  }

  #complete(): void {
    const deferred = this.#deferred;
    this.#deferred = null;
    this.#group = [];
    if (deferred !== null) this.#begin(deferred);
  }

  #begin(group: JointGroup, late: Promise<Decoded> | null = null): void {
    const { decoder, onRead } = this.#options;
    const [head] = group;
    if (head === undefined || this.#life.signal.aborted || head.speechFrom < this.#partedAt) return;
    if (late === null && decoder.finalLoad > FULL_LOAD) {
      onRead('dropped');
      return;
    }
    this.#deferred = null;
    this.#waiting = [...this.#waiting.filter((other) => other.group[0] !== head), { group, late }];
    if (this.#waiting.length > WAITING_MAX) {
      this.#waiting.shift();
      onRead('dropped');
    }
    this.#running ??= this.#readWaiting();
  }

  async #readWaiting(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      this.#options.onRead(await this.#read(next));
    this.#running = null;
    this.#options.onIdle();
  }

  async #read({ group, late }: WaitingGroup): Promise<JointOutcome> {
    const [head] = group;
    const early = await (late ?? this.#takePrepared(group));
    const decoded = early?.ok ? early : await this.#decode(group);
    if (!decoded.ok || this.#life.signal.aborted) return 'dropped';
    this.#last = { ...this.#lastOf(head), draft: decoded.draft };
    if (isBroken(decoded, group)) return 'unchanged';
    const lastFinal = this.#options.lastFinal();
    const canHaveWords = group.map(
      ({ captions }) => captions.isFinal || (captions.utterance > lastFinal && !captions.isForeign),
    );
    const texts = keepTold(splitReading(decoded, splice(group), canHaveWords), group, canHaveWords);
    const first = head?.captions.utterance ?? 0;
    const events = group.flatMap((utterance, index) => this.#tell(utterance, texts[index] ?? '', first) ?? []);
    for (const event of events) this.#options.emit(event);
    return events.length > 0 ? 'revised' : 'unchanged';
  }

  #tell({ captions, speechTo }: EndedUtterance, text: string, first: number): Revision | Caption | null {
    if (captions.isFinal) return captions.revise(text, first);
    return captions.lateFinal(text, speechTo, this.#options.lagMs(speechTo));
  }

  #lastOf(head: EndedUtterance | undefined): LastReading {
    return head === this.#last.head ? this.#last : { head, draft: NO_DRAFT, stream: newStream() };
  }

  #takePrepared(group: JointGroup): Promise<Decoded> | undefined {
    const prepared = this.#prepared;
    if (prepared === null || prepared.group[0] !== group[0] || !isSame(prepared.group.at(-1), group.at(-1))) return;
    this.#prepared = null;
    return prepared.result;
  }

  async #decode(group: JointGroup, ...given: AbortSignal[]): Promise<Decoded> {
    const { clock, decoder } = this.#options;
    this.#last = this.#lastOf(group[0]);
    const { draft, stream } = this.#last;
    const late = new AbortController();
    const timer = clock.after(WAIT_MAX_MS, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#life.signal, ...given]);
    try {
      return await decoder.decode('joint', { ...draft, samples: splice(group).samples, stream, timed: true, signal });
    } finally {
      timer.cancel();
    }
  }
}

/** Whether both are the same stretch of audio. */
function isSame(a: EndedUtterance | undefined, b: EndedUtterance | undefined): boolean {
  return a !== undefined && a.from === b?.from && a.speechTo === b.speechTo && a.samples.length === b.samples.length;
}

/** Whether the recogniser went round in a loop, or left out much of what it had read in the single utterances. */
function isBroken({ text, looped }: Extract<Decoded, { ok: true }>, group: JointGroup): boolean {
  const known = group.reduce((sum, { captions }) => sum + splitWords(captions.latestText).length, 0);
  return looped || splitWords(text).length < known * WORDS_SHARE_MIN;
}
