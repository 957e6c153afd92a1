/**
 * One stream of `/v2/listen` (developers.deepgram.com, "Flux"): turns of one speaker. What is heard goes in, messages
 * come out. Times are ms of the stream's audio.
 */
import { bareWord, type SaidText, type SaidWord, seconds } from './messages.ts';

type TurnEvent = 'StartOfTurn' | 'Update' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn';

/** What every message of one stream says of it, and when a turn is told to be over, perhaps. */
export interface FluxOptions {
  readonly requestId: string;
  /** From this confidence on `EagerEndOfTurn` is told; null = never. */
  readonly eagerThreshold: number | null;
  /** What `EndOfTurn` has at least as its confidence. */
  readonly threshold: number;
}

/** How sure it is that a turn is over: while somebody speaks, in a pause where nothing says more, at its end. */
const SPEAKING_CONFIDENCE = 0.05;
const PAUSE_CONFIDENCE = 0.5;
const END_CONFIDENCE = 0.9;

/** The first message of a stream. */
export interface FluxConnected {
  readonly type: 'Connected';
  readonly request_id: string;
  readonly sequence_id: number;
}

/** What is known of a turn. */
export interface FluxTurnInfo {
  readonly type: 'TurnInfo';
  readonly request_id: string;
  readonly sequence_id: number;
  readonly event: TurnEvent;
  readonly turn_index: number;
  readonly audio_window_start: number;
  readonly audio_window_end: number;
  readonly transcript: string;
  readonly words: readonly {
    readonly word: string;
    readonly confidence: number;
    readonly start: number;
    readonly end: number;
  }[];
  readonly end_of_turn_confidence: number;
}

export type FluxMessage = FluxConnected | FluxTurnInfo;

interface OpenTurn {
  readonly startMs: number;
  /** The finals of the turn. */
  readonly finals: SaidText[];
  /** What is being said behind them. */
  running: SaidText | null;
  /** Its end was told as probable. */
  isEager: boolean;
}

/** See above. */
export class FluxAnswers {
  readonly #options: FluxOptions;
  #eagerThreshold: number | null;
  #sequence = 0;
  #turns = 0;
  #turn: OpenTurn | null = null;

  constructor(options: FluxOptions) {
    this.#options = options;
    this.#eagerThreshold = options.eagerThreshold;
  }

  /** Whether somebody's words are not told as a whole turn yet. */
  get isInTurn(): boolean {
    return this.#turn !== null;
  }

  /** To be sent first. */
  open(): FluxConnected {
    return { type: 'Connected', request_id: this.#options.requestId, sequence_id: this.#sequence++ };
  }

  /** From now on. */
  setEagerThreshold(threshold: number): void {
    this.#eagerThreshold = threshold;
  }

  /** Words, which are settled if `final`. */
  onSaid(said: SaidText): FluxMessage[] {
    const isNew = this.#turn === null;
    if (isNew && said.text === '') return [];
    this.#turn ??= { startMs: said.startMs, finals: [], running: null, isEager: false };
    if (said.final) this.#turn.finals.push(said);
    this.#turn.running = said.final ? null : said;
    return isNew ? [this.#info('StartOfTurn')] : [...this.#resume(), this.#info('Update')];
  }

  /**
   * The speaker pauses, and what was said up to here has been read as if it were all.
   * @param probability that the turn is over; null = nothing says more than the pause
   */
  onPaused(said: SaidText, probability: number | null = null): FluxMessage[] {
    const confidence = probability ?? PAUSE_CONFIDENCE;
    const started = this.#turn === null ? this.onSaid(said) : [];
    if (this.#turn === null) return started;
    this.#turn.running = said;
    if (this.#eagerThreshold === null || confidence < this.#eagerThreshold || this.#turn.isEager) return started;
    this.#turn.isEager = true;
    return [...started, this.#info('EagerEndOfTurn', confidence)];
  }

  /** The speaker goes on. */
  onResumed(): FluxMessage[] {
    return this.#resume();
  }

  /** The turn is over, and all of it is settled. */
  onTurnEnded(): FluxMessage[] {
    if (this.#turn === null) return [];
    const info = this.#info('EndOfTurn', Math.max(END_CONFIDENCE, this.#options.threshold));
    this.#turn = null;
    this.#turns++;
    return [info];
  }

  #resume(): FluxMessage[] {
    if (this.#turn?.isEager !== true) return [];
    this.#turn.isEager = false;
    return [this.#info('TurnResumed')];
  }

  #info(event: TurnEvent, confidence = SPEAKING_CONFIDENCE): FluxTurnInfo {
    const turn = this.#turn;
    const parts = [...(turn?.finals ?? []), ...(turn?.running ? [turn.running] : [])];
    return {
      type: 'TurnInfo',
      request_id: this.#options.requestId,
      sequence_id: this.#sequence++,
      event,
      turn_index: this.#turns,
      audio_window_start: seconds(turn?.startMs ?? 0),
      audio_window_end: seconds(parts.at(-1)?.endMs ?? 0),
      transcript: parts
        .map(({ text }) => text)
        .filter((text) => text !== '')
        .join(' '),
      words: parts.flatMap((part) => part.words.map((word) => wordOf(word, part))),
      end_of_turn_confidence: confidence,
    };
  }
}

function wordOf(word: SaidWord, { confidence = END_CONFIDENCE }: SaidText): FluxTurnInfo['words'][number] {
  return {
    word: bareWord(word.text),
    confidence: word.confidence ?? confidence,
    start: seconds(word.startMs),
    end: seconds(word.endMs),
  };
}
