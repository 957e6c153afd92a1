/**
 * Answers in a Realtime session: asks the brain, has its words spoken, and stops where the client or the user wants it.
 * At most one answer is under way; what is asked for meanwhile follows it.
 */
import { checkAnswerLength } from '../../calls/app/answer-length.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import type { SpeechService } from '../../http/speech/speech-service.ts';
import { codecOf } from '../../listening/sound-input.ts';
import type { Json } from '../../protocols/json.ts';
import type { ResolvedVoice } from '../../speech/voice-resolver.ts';
import type { Brain, BrainEvents } from './brain.ts';
import { SpokenAnswer } from './spoken-answer.ts';
import type { Conversation, Item } from './wire/items.ts';
import { textOf } from './wire/items.ts';
import { type CancelReason, OutgoingResponse } from './wire/outgoing-response.ts';
import { type OutputConfig, readOutputConfig } from './wire/output-config.ts';
import { errorEvent, type ServerEvent } from './wire/server-events.ts';

/** A client that was interrupted says within this time how much was heard; later our own estimate stands. */
const TRUNCATE_WAIT_MS = 400;

interface ResponderOptions {
  readonly service: SpeechService;
  readonly clock: Clock;
  readonly conversation: Conversation;
  /** Null = nobody answers. */
  readonly openBrain: ((events: BrainEvents) => Brain) | null;
  readonly newItemId: () => string;
  readonly newResponseId: () => string;
  readonly send: (event: ServerEvent) => void;
  /** Resolves when all that was sent has been handed to the system. */
  sent(): Promise<void>;
  /** The brain has ended the session, and all that it said has been sent. */
  onEnd(): void;
  /** Something could not be answered, or spoken. It repeats nothing that was said. */
  onTrouble(complaint: string, error: unknown): void;
}

/** See above. */
export class Responder {
  readonly #options: ResponderOptions;
  #output: OutputConfig;
  /** What holds for the answer under way. */
  #current: OutputConfig;
  #brain: Brain | null = null;
  /** The answer under way. */
  #answer: SpokenAnswer | null = null;
  /** The brain was asked and has not answered to the end. */
  #isAsked = false;
  /** The brain has ended the session, which lasts until what it said has been sent. */
  #isEnding = false;
  /** Asked for while another answer was under way. */
  #next: Json | null = null;
  /** What the answer under way was asked for with. */
  #wish: Json = {};
  /** What an answer was asked for with that speech stopped before its first word; null = nothing. */
  #unanswered: Json | null = null;
  /** The answer whose words may be cut by what was heard of it. */
  #latest: { readonly answer: SpokenAnswer; readonly itemId: string } | null = null;
  /** Tells the brain of an interruption, unless the client says more exactly what was heard. */
  #untold: Timer | null = null;
  /** Troubles that were told, each once: a client may ask as often as it likes. */
  readonly #told = new Set<string>();
  /** The ids of what the brain was asked for. */
  readonly #asked = new Set<string>();

  constructor(options: ResponderOptions, output: OutputConfig) {
    this.#options = options;
    this.#output = output;
    this.#current = output;
  }

  /** Whether an answer is being given. */
  get isAnswering(): boolean {
    return this.#answer !== null;
  }

  /** Whether anybody answers. */
  get canAnswer(): boolean {
    return this.#options.openBrain !== null;
  }

  /** From the next answer on. The first time the session begins with it. */
  configure(output: OutputConfig): void {
    this.#output = output;
    if (this.#answer === null) this.#current = output;
    this.#opened()?.begin(output);
  }

  /** An answer is wanted. @param wish what of the session's configuration differs in it */
  create(wish: Json): void {
    if (this.#isEnding) return;
    if (!this.canAnswer) {
      const message = 'nobody answers here: set REALTIME_APP_URL or APP_URL, or LLM_BASE_URL and LLM_MODEL';
      const type = 'invalid_request_error';
      this.#options.send(errorEvent({ type, code: 'no_app', message, param: null, eventId: null }));
    } else if (this.#answer !== null || this.#isAsked) {
      this.#next = wish;
    } else {
      this.#ask(wish);
    }
  }

  /** The user said something that is to be answered. What is being answered is not waited for. */
  answerTurn(): void {
    if (!this.canAnswer) return;
    this.cancel('turn_detected');
    if (!this.#isEnding) this.#ask({});
  }

  /** What began as speech was a noise: the question that it stopped the answer to is asked again. */
  answerAfterNoise(): void {
    const wish = this.#unanswered;
    if (wish !== null && this.#answer === null && !this.#isEnding) this.#ask(wish);
  }

  /** Stops the answer under way, if there is one. */
  cancel(reason: CancelReason): void {
    const answer = this.#answer;
    const wasAsked = this.#isAsked;
    this.#next = null;
    this.#isAsked = false;
    const isOver = this.#brain?.cancel(reason) === true;
    if (answer === null) {
      if (reason === 'client_cancelled') this.#unanswered = null;
      return;
    }
    const isForSpeech = reason === 'turn_detected' && wasAsked && isOver;
    this.#unanswered = isForSpeech && answer.response.isEmpty ? this.#wish : null;
    this.#answer = null;
    this.#remember(answer);
    answer.close();
    answer.response.end('cancelled', reason);
    if (answer.response.text === '') return;
    const playedMs = answer.playedMs ?? 0;
    const heard = answer.heardUntil(playedMs);
    this.#untold?.cancel();
    this.#untold = this.#options.clock.after(TRUNCATE_WAIT_MS, () => this.#tellHeard(heard, playedMs));
    if (this.#isEnding) this.#options.onEnd();
  }

  #remember(answer: SpokenAnswer): void {
    const { messageId } = answer.response;
    this.#latest = messageId === null ? null : { answer, itemId: messageId };
  }

  /** The client has played an item up to `audioEndMs` and no further. */
  truncate(itemId: string, audioEndMs: number): void {
    const { conversation, send } = this.#options;
    const item = conversation.get(itemId);
    if (this.#latest?.itemId === itemId && item?.type === 'message') {
      const heard = this.#latest.answer.heardUntil(audioEndMs);
      conversation.replace({ ...item, content: [{ type: 'output_audio', transcript: heard }] });
      this.#tellHeard(heard, audioEndMs);
    }
    send({ type: 'conversation.item.truncated', item_id: itemId, content_index: 0, audio_end_ms: audioEndMs });
  }

  close(): void {
    this.#untold?.cancel();
    this.#answer?.close();
    this.#answer = null;
    this.#brain?.close();
  }

  #tellHeard(text: string, ms: number): void {
    this.#untold?.cancel();
    this.#untold = null;
    this.#brain?.heard(text, ms);
  }

  #opened(): Brain | null {
    const { openBrain } = this.#options;
    this.#brain ??=
      openBrain?.({
        onText: (text) => this.#write(text),
        onCall: (name, callId) => this.#answering().response.addCall(name, callId),
        onArguments: (json) => this.#answering().response.addArguments(json),
        onDone: () => this.#onDone(),
        onFailed: (complaint, cause) => this.#fail(complaint, cause),
        onEnd: () => this.#end(),
      }) ?? null;
    return this.#brain;
  }

  #ask(wish: Json): void {
    const brain = this.#opened();
    if (brain === null) return;
    // The brain is to know first what was heard of its answer before.
    if (this.#untold !== null && this.#latest !== null) {
      const { answer } = this.#latest;
      this.#tellHeard(answer.heardUntil(answer.playedMs ?? 0), answer.playedMs ?? 0);
    }
    this.#wish = wish;
    this.#unanswered = null;
    this.#current = readOutputConfig(wish, this.#output);
    const { items } = this.#options.conversation;
    const said = this.#saidIn(items);
    this.#isAsked = true;
    this.#answering();
    brain.ask({ items, said, output: this.#current });
  }

  /** What users said in items that the brain was not asked for yet. */
  #saidIn(items: readonly Item[]): string {
    const texts: string[] = [];
    for (const item of items) {
      if (item.type !== 'message' || item.role !== 'user' || this.#asked.has(item.id)) continue;
      const text = textOf(item);
      if (text === '') continue;
      this.#asked.add(item.id);
      texts.push(text);
    }
    const known = new Set(items.map(({ id }) => id));
    for (const id of this.#asked) if (!known.has(id)) this.#asked.delete(id);
    return texts.join(' ');
  }

  /** What comes while the text before it is still being spoken belongs to the same answer. */
  #write(text: string): void {
    const answer = this.#answering();
    checkAnswerLength(answer.response.text.length + text.length);
    answer.write(text);
  }

  /** An answer begins with its first words. */
  #answering(): SpokenAnswer {
    if (this.#answer !== null) return this.#answer;
    const { conversation, newItemId, newResponseId, send, sent, clock, service } = this.#options;
    const { isSpoken, format } = this.#current;
    const codec = codecOf({ ...format, channels: 1 });
    const response = new OutgoingResponse({ id: newResponseId(), isSpoken, conversation, newItemId, send });
    const answer: SpokenAnswer = new SpokenAnswer({
      response,
      speech: isSpoken ? { service, voice: this.#voiceOf(this.#current), codec } : null,
      clock,
      sent,
      onDone: () => this.#finish(answer),
      onFailed: (error) => this.#onSpeechFailed(answer, error),
    });
    this.#answer = answer;
    response.begin();
    return answer;
  }

  /** An answer that is never spoken needs none, and would not wait for it. */
  #voiceOf({ voice, speed }: OutputConfig): () => Promise<ResolvedVoice> {
    return () => this.#options.service.voiceFor({ speed, ...(voice === '' ? {} : { voice, voiceIsWish: true }) });
  }

  #onDone(): void {
    this.#isAsked = false;
    if (this.#answer === null) this.#askNext();
    else this.#answer.finish();
  }

  #finish(answer: SpokenAnswer): void {
    if (this.#answer !== answer) return;
    this.#remember(answer);
    this.#answer = null;
    answer.response.end('completed');
    this.#askNext();
  }

  #onSpeechFailed(answer: SpokenAnswer, error: unknown): void {
    if (this.#answer === answer) this.#fail('the answer could not be spoken', error);
  }

  #fail(complaint: string, error: unknown): void {
    this.#isAsked = false;
    if (!this.#told.has(complaint)) this.#options.onTrouble(complaint, error);
    this.#told.add(complaint);
    const answer = this.#answer ?? this.#answering();
    this.#answer = null;
    answer.close();
    this.#brain?.cancel('client_cancelled');
    const playedMs = answer.playedMs ?? 0;
    if (answer.response.text !== '') this.#tellHeard(answer.heardUntil(playedMs), playedMs);
    answer.response.end('failed', complaint);
    this.#askNext();
  }

  #end(): void {
    this.#isEnding = true;
    if (this.#answer === null) this.#options.onEnd();
  }

  #askNext(): void {
    if (this.#isEnding) {
      this.#options.onEnd();
      return;
    }
    const next = this.#next;
    this.#next = null;
    this.#current = this.#output;
    if (next !== null) this.#ask(next);
  }
}
