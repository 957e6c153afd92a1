/**
 * One stream of `/v2/listen` (developers.deepgram.com, "Flux"): turns of one speaker. What is heard goes in, messages
 * come out. Times are ms of the stream's audio.
 */
import { bareWord, type SaidText, type SaidWord, seconds } from './messages.ts';

type TurnEvent = 'StartOfTurn' | 'Update' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn';

/** Silence and words, or the client. */
export type TurnTrigger = 'model' | 'manual';

/** What every message of one stream says of it, and when a turn is told to be over, perhaps. */
export interface FluxOptions {
  readonly requestId: string;
  /** From this confidence on `EagerEndOfTurn` is told; null = never. */
  readonly eagerThreshold: number | null;
  /** What `EndOfTurn` has at least as its confidence. */
  readonly threshold: number;
  /** Whether the model is one for several languages: what was spoken is told. */
  readonly isMultilingual: boolean;
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
  /** Of `flux-general-multi`, where languages were recognised: the most frequent first. */
  readonly languages?: readonly string[];
  /** Of `EndOfTurn`: what ended it. */
  readonly trigger?: TurnTrigger;
}

export type FluxMessage = FluxConnected | FluxTurnInfo;

/** What was said in an utterance; they count from 1. */
interface Part {
  readonly utterance: number;
  readonly said: SaidText;
}

interface OpenTurn {
  /** The finals of the turn. */
  finals: Part[];
  /** What is being said behind them. */
  running: Part | null;
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
  /** The transcript of the last message. */
  #told = '';

  constructor(options: FluxOptions) {
    this.#options = options;
    this.#eagerThreshold = options.eagerThreshold;
  }

  /** To be sent first. */
  open(): FluxConnected {
    return { type: 'Connected', request_id: this.#options.requestId, sequence_id: this.#sequence++ };
  }

  /** From now on. */
  setEagerThreshold(threshold: number): void {
    this.#eagerThreshold = threshold;
  }

  /** Words of an utterance, which are settled if `final`. */
  onSaid(said: SaidText, utterance: number): FluxMessage[] {
    const isNew = this.#turn === null;
    if (isNew && said.text === '') return [];
    this.#turn ??= { finals: [], running: null, isEager: false };
    const part = { utterance, said };
    if (said.final) this.#turn.finals.push(part);
    this.#turn.running = said.final ? null : part;
    if (isNew) return [this.#info('StartOfTurn')];
    return this.#transcript() === this.#told ? [] : [this.#info('Update')];
  }

  /** The speaker pauses in `utterance`, and what was said of it up to here has been read as if it were all. */
  onPaused(said: SaidText, utterance: number): FluxMessage[] {
    const started = this.#turn === null ? this.onSaid(said, utterance) : [];
    if (this.#turn === null) return started;
    this.#turn.running = { utterance, said };
    if (this.#eagerThreshold === null || PAUSE_CONFIDENCE < this.#eagerThreshold || this.#turn.isEager) return started;
    this.#turn.isEager = true;
    return [...started, this.#info('EagerEndOfTurn', PAUSE_CONFIDENCE)];
  }

  /** The speaker goes on. */
  onResumed(): FluxMessage[] {
    if (this.#turn?.isEager !== true) return [];
    this.#turn.isEager = false;
    return [this.#info('TurnResumed')];
  }

  /**
   * The turn is over, and all of it is settled.
   * @param last its last utterance: what was said in later ones begins the next turn
   */
  onTurnEnded(last: number = Number.POSITIVE_INFINITY, trigger: TurnTrigger = 'model'): FluxMessage[] {
    const turn = this.#turn;
    if (turn === null) return [];
    const later = turn.finals.filter(({ utterance }) => utterance > last);
    const running = turn.running !== null && turn.running.utterance > last ? turn.running : null;
    turn.finals = turn.finals.filter(({ utterance }) => utterance <= last);
    turn.running = null;
    if (turn.finals.length === 0) {
      this.#turn = later.length === 0 && running === null ? null : { finals: later, running, isEager: false };
      return [];
    }
    const confidence = Math.max(END_CONFIDENCE, this.#options.threshold);
    const ended = { ...this.#info('EndOfTurn', confidence), trigger };
    this.#turns++;
    this.#turn = null;
    if (later.length === 0 && running === null) return [ended];
    this.#turn = { finals: later, running, isEager: false };
    return [ended, this.#info('StartOfTurn')];
  }

  #parts(): SaidText[] {
    const turn = this.#turn;
    return [...(turn?.finals ?? []), ...(turn?.running ? [turn.running] : [])].map(({ said }) => said);
  }

  #transcript(): string {
    return this.#parts()
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(' ');
  }

  #info(event: TurnEvent, confidence = SPEAKING_CONFIDENCE): FluxTurnInfo {
    const parts = this.#parts();
    this.#told = this.#transcript();
    return {
      type: 'TurnInfo',
      request_id: this.#options.requestId,
      sequence_id: this.#sequence++,
      event,
      turn_index: this.#turns,
      audio_window_start: seconds(parts[0]?.startMs ?? 0),
      audio_window_end: seconds(parts.at(-1)?.endMs ?? 0),
      transcript: this.#told,
      words: parts.flatMap((part) => part.words.map((word) => wordOf(word, part))),
      end_of_turn_confidence: confidence,
      ...(this.#options.isMultilingual && languagesOf(parts)),
    };
  }
}

/** Each language once, by how many of the parts are in it. */
function languagesOf(parts: readonly SaidText[]): Pick<FluxTurnInfo, 'languages'> {
  const found = parts.flatMap(({ language }) => (typeof language === 'string' ? [language] : []));
  const count = (language: string) => found.filter((each) => each === language).length;
  const languages = [...new Set(found)].toSorted((a, b) => count(b) - count(a));
  return languages.length > 0 ? { languages } : {};
}

function wordOf(word: SaidWord, { confidence = END_CONFIDENCE }: SaidText): FluxTurnInfo['words'][number] {
  return {
    word: bareWord(word.text),
    confidence: word.confidence ?? confidence,
    start: seconds(word.startMs),
    end: seconds(word.endMs),
  };
}
