/** The servers of ASR_URL and TTS_URL and the embedded engines as one engine. */
import { isDroppable, type VoiceInfo } from '../../../engine/contract.ts';
import type { RecogniserAbilities } from '../../../engine/recogniser-abilities.ts';
import type { Clock } from '../../foundation/clock.ts';
import { matchLanguage } from '../../foundation/languages.ts';
import type { Metrics } from '../../foundation/metrics.ts';
import { type Answer, anyOf, isCancelled, toAnswer, within } from '../answer.ts';
import { EngineError, type SpeakRequest, type Speech, type TranscribeRequest, type Transcript } from '../engine.ts';
import type { EnginesReport } from '../engine-report.ts';
import { EngineWrapper } from '../engine-wrapper.ts';
import type { ManagedEngine } from '../managed-engine.ts';
import { BatchTurns } from './batch-turns.ts';
import { RemoteChoice } from './remote-choice.ts';
import { GaveWay, type RemoteMember, Unheard } from './remote-member.ts';
import type { RemoteSpeech } from './remote-speech.ts';

/** A partial caption is of no use after so many times the time to the next one. */
const PARTIAL_PATIENCE = 2;
/** A final is not waited for longer than this where nobody else can read it. */
const FINAL_MAX_MS = 10_000;
/** A piece of a recording that its server failed at goes to another one, and after so many to the embedded engines. */
const BATCH_TRIES = 3;

/** Why it was these that read a final. */
type Reason = 'asked' | 'hedge' | 'failed' | 'empty' | 'down';

interface RemoteEngineOptions {
  /** Does everything but reading, and that as well where no server answers in time. */
  readonly embedded: ManagedEngine;
  readonly members: readonly RemoteMember[];
  /** The servers of TTS_URL; null = there are none. */
  readonly speech: RemoteSpeech | null;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * Sends what is to be read to a server, each request with its samples, so that nothing is lost with one. An utterance
 * stays with one server as long as it answers. Finals that are late there are read by the embedded engines as well, and
 * the first answer counts; partial captions are not, for that would double the load where there is least to spare.
 * Drafts stay with the embedded engines: tokens of one recogniser mean nothing to another.
 */
export class RemoteEngine extends EngineWrapper {
  readonly #options: RemoteEngineOptions;
  readonly #choice: RemoteChoice;
  readonly #batchTurns: BatchTurns;
  #isWarm = false;

  constructor(options: RemoteEngineOptions) {
    super(options.embedded);
    this.#options = options;
    this.#choice = new RemoteChoice(options.members, () => options.embedded.languages);
    this.#batchTurns = new BatchTurns(options.clock);
  }

  /** Of the server that has least to do; of the embedded engines while none can be asked. */
  override get load(): number {
    return this.#loadOr(super.load);
  }

  override get finalLoad(): number {
    return this.#loadOr(super.finalLoad);
  }

  /** By the places of all servers that answer; null while none does: then the embedded engines read everything. */
  override get remoteUse(): number | null {
    const up = this.#options.members.filter(({ isDown }) => !isDown);
    const places = up.reduce((sum, member) => sum + member.places, 0);
    return places === 0 ? null : up.reduce((sum, member) => sum + member.use * member.places, 0) / places;
  }

  override get voices(): readonly VoiceInfo[] {
    return (this.#options.speech ?? this.#options.embedded).voices;
  }

  /** First those of the embedded engines: they say which one is assumed. */
  override get languages(): readonly string[] {
    const { embedded, members } = this.#options;
    if (embedded.abilities === null) return embedded.languages;
    return [...new Set([...embedded.languages, ...members.flatMap(({ languages }) => languages)])];
  }

  /** Servers give neither tokens nor times; what is likely to be said goes to them. */
  override get abilities(): RecogniserAbilities | null {
    const { abilities } = this.#options.embedded;
    if (this.#options.members.length === 0) return abilities;
    return abilities && { ...abilities, logprobs: false, confidence: false, hotWords: true, context: true };
  }

  override get batchMax(): number {
    const { embedded, members } = this.#options;
    return Math.max(embedded.batchMax ?? 1, ...members.map(({ batchMax }) => batchMax));
  }

  override get report(): EnginesReport {
    const { members, speech } = this.#options;
    return { ...super.report, servers: [...members.map(({ report }) => report), ...(speech?.reports ?? [])] };
  }

  override async start(): Promise<void> {
    this.#warmUp();
    await super.start();
  }

  override wake(): void {
    this.#warmUp();
    super.wake();
  }

  override speak(request: SpeakRequest): Promise<Speech> {
    return (this.#options.speech ?? this.#options.embedded).speak(request);
  }

  override async transcribe(given: TranscribeRequest): Promise<Transcript> {
    if (this.#options.members.length === 0) return this.#options.embedded.transcribe(given);
    const request = this.#withLanguage(given);
    if (request.urgency === 'batch') return this.#readBatch(request);
    return isDroppable(request.urgency) ? this.#readPartial(request) : this.#readFinal(request);
  }

  override async close(): Promise<void> {
    for (const member of this.#options.members) member.close();
    this.#options.speech?.close();
    this.#batchTurns.close();
    await super.close();
  }

  /** A server that understands more is told what the embedded recogniser would take for granted. */
  #withLanguage(request: TranscribeRequest): TranscribeRequest {
    const { languages } = this;
    const [only] = languages;
    return request.language === undefined && only !== undefined && languages.length === 1
      ? { ...request, language: only }
      : request;
  }

  async #readPartial(request: TranscribeRequest): Promise<Transcript> {
    const member = this.#choice.forPartial(request);
    if (member === null) return this.#readHere(request);
    const expireMs = request.dueInMs * PARTIAL_PATIENCE;
    try {
      return await member.read(request, { lateMs: expireMs, expireMs });
    } catch (error) {
      if (!isCancelled(error)) this.#choice.moveAway(request, member);
      throw error;
    } finally {
      this.#batchTurns.next();
    }
  }

  async #readFinal(request: TranscribeRequest): Promise<Transcript> {
    const { clock } = this.#options;
    const member = this.#choice.forFinal(request) ?? this.#lastResort(request);
    if (member === null) return this.#counted('embedded', 'down', this.#readHere(request));
    const given = new AbortController();
    const { hedgeMs } = member;
    const answer = toAnswer(
      member.read(
        { ...request, signal: anyOf(request.signal, given.signal) },
        { lateMs: hedgeMs, expireMs: FINAL_MAX_MS },
      ),
    );
    const soon = await within(clock, hedgeMs, answer);
    this.#batchTurns.next();
    if (soon !== null && 'found' in soon) return this.#counted(member.name, 'asked', Promise.resolve(soon.found));
    if (soon !== null && isCancelled(soon.error)) throw soon.error;
    const isUnheard = soon !== null && soon.error instanceof Unheard;
    if (soon !== null && !isUnheard) this.#choice.moveAway(request, member);
    const failed = isUnheard ? 'empty' : 'failed';
    return this.#hedge(request, {
      member,
      answer,
      reason: soon === null ? 'hedge' : failed,
      giveUp: () => given.abort(),
    });
  }

  /** Has somebody else read it as well: the first text counts. */
  async #hedge(
    request: TranscribeRequest,
    asked: { member: RemoteMember; answer: Promise<Answer<Transcript>>; reason: Reason; giveUp: () => void },
  ): Promise<Transcript> {
    const { member, answer, reason, giveUp } = asked;
    const instead = new AbortController();
    const twin = { ...request, signal: anyOf(request.signal, instead.signal) };
    const other = this.#knows(request)
      ? { name: 'embedded', reading: this.#options.embedded.transcribe(twin) }
      : this.#elsewhere(twin, member);
    if (other === null) return this.#counted(member.name, 'asked', unwrap(await answer));
    const faults: Unheard[] = [];
    const watched = answer.then((given) => {
      if ('error' in given && given.error instanceof Unheard) faults.push(given.error);
      return given;
    });
    const first = await firstFound([
      { name: other.name, answer: toAnswer(other.reading) },
      { name: member.name, answer: watched },
    ]);
    giveUp();
    instead.abort();
    const [unheard] = faults;
    if (unheard !== undefined) return this.#compared(request, { member, unheard, other: first });
    return this.#counted(first.name, first.name === member.name ? 'asked' : reason, unwrap(first.answer));
  }

  /** What somebody else made of speech that a server had no words for. */
  async #compared(
    { samples }: TranscribeRequest,
    { member, unheard, other }: { member: RemoteMember; unheard: Unheard; other: Reader<Answer<Transcript>> },
  ): Promise<Transcript> {
    const { name, answer } = other;
    if ('found' in answer) {
      member.compare(unheard, answer.found.text, samples.length);
      return this.#counted(name, 'empty', Promise.resolve(answer.found));
    }
    if (isCancelled(answer.error)) throw answer.error;
    return this.#counted(member.name, 'asked', Promise.resolve(unheard.transcript));
  }

  #elsewhere(request: TranscribeRequest, member: RemoteMember): { name: string; reading: Promise<Transcript> } | null {
    const other = this.#choice.anyFor(request, ({ admits }) => admits, member);
    if (other === null) return null;
    const patience = { lateMs: FINAL_MAX_MS, expireMs: FINAL_MAX_MS };
    return { name: other.name, reading: other.read(request, patience) };
  }

  /** What the embedded recogniser does not understand is left to a server, be it one that has failed before. */
  #lastResort(request: TranscribeRequest): RemoteMember | null {
    if (this.#knows(request)) return null;
    return this.#choice.anyFor(request, ({ admits }) => admits);
  }

  /**
   * Behind the work of calls, with half of each server's places at most. One that gives its place to a call waits for
   * another one.
   */
  async #readBatch(request: TranscribeRequest): Promise<Transcript> {
    const patience = { lateMs: request.dueInMs, expireMs: request.dueInMs };
    const begin = (): { member: RemoteMember; read: Promise<Answer<Transcript>> } | null => {
      const member = this.#choice.anyFor(request, ({ admitsBatch }) => admitsBatch);
      return member && { member, read: toAnswer(member.read(request, patience)) };
    };
    const hasHope = () => this.#choice.anyFor(request, ({ isDown }) => !isDown) !== null;
    for (let tries = 0; tries < BATCH_TRIES; ) {
      const begun = await this.#batchTurns.wait(begin, hasHope, request.signal);
      if (begun === null) break;
      const { member, read } = begun;
      const answer = await read;
      this.#batchTurns.next();
      if ('found' in answer) return answer.found;
      const { error } = answer;
      if (isCancelled(error)) throw error;
      if (error instanceof Unheard) return this.#readUnheard(request, member, error);
      if (!(error instanceof GaveWay)) tries++;
    }
    return this.#readHere(request);
  }

  async #readUnheard(request: TranscribeRequest, member: RemoteMember, unheard: Unheard): Promise<Transcript> {
    const answer = await toAnswer(this.#readHere(request));
    return this.#compared(request, { member, unheard, other: { name: 'embedded', answer } });
  }

  /** Reads with the embedded engines, unless they would make words of another language of it. */
  async #readHere(request: TranscribeRequest): Promise<Transcript> {
    if (this.#knows(request)) return this.#options.embedded.transcribe(request);
    const code = isDroppable(request.urgency) ? 'stale' : 'unavailable';
    throw new EngineError(code, 'no server of ASR_URL that understands the language answers');
  }

  /** Whether the embedded recogniser can read it as well. */
  #knows({ language }: TranscribeRequest): boolean {
    return language === undefined || matchLanguage(language, this.#options.embedded.languages) !== null;
  }

  async #counted(backend: string, reason: Reason, reading: Promise<Transcript>): Promise<Transcript> {
    const transcript = await reading;
    this.#options.metrics.recognisers.works.inc({ backend, reason });
    return transcript;
  }

  #loadOr(embedded: number): number {
    const loads = this.#options.members.filter(({ isDown }) => !isDown).map(({ load }) => load);
    return loads.length === 0 ? embedded : Math.min(...loads);
  }

  #warmUp(): void {
    if (this.#isWarm) return;
    this.#isWarm = true;
    for (const member of this.#options.members) void member.warmUp();
  }
}

function unwrap(answer: Answer<Transcript>): Promise<Transcript> {
  if ('error' in answer && answer.error instanceof Unheard) return Promise.resolve(answer.error.transcript);
  return 'found' in answer ? Promise.resolve(answer.found) : Promise.reject(answer.error);
}

/** Who reads it, or has read it. */
interface Reader<Found> {
  readonly name: string;
  readonly answer: Found;
}

type Runner = Reader<Promise<Answer<Transcript>>>;

/** The first of two that has a text; the first one's failure where none has. */
async function firstFound(runners: readonly [Runner, Runner]): Promise<Reader<Answer<Transcript>>> {
  const [one, other] = runners;
  const first = await Promise.race(runners.map(async ({ name, answer }) => ({ name, answer: await answer })));
  if ('found' in first.answer) return first;
  const second = first.name === one.name ? other : one;
  const last = await second.answer;
  return 'found' in last ? { name: second.name, answer: last } : { name: one.name, answer: await one.answer };
}
