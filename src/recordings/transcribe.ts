/** One recording from its file to timed text, for HTTP, the command line and batches. */
import { ENGINE_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../engine/contract.ts';
import { joinSamples } from '../audio/mix.ts';
import { type Engine, EngineError, type Transcript } from '../engine-client/engine.ts';
import { TrunklineError } from '../foundation/errors.ts';
import { isAnyLanguage, requireSpoken } from '../foundation/recogniser-languages.ts';
import type { Settings } from '../foundation/settings/settings.ts';
import { samplesToMs } from '../foundation/units.ts';
import { cleanText } from '../transcription/clean-text.ts';
import { timeClipWords } from '../transcription/clip-word-times.ts';
import { calibratedOf, meanLogprob } from '../transcription/confidence.ts';
import { withoutDoubled } from '../transcription/doubled-word.ts';
import type { TimedWord } from '../transcription/estimated-word-times.ts';
import { LanguageEvidence } from '../transcription/language-evidence.ts';
import { understandSpeech } from '../transcription/second-look.ts';
import { ClipCutter, type ClipSettings, type RecordedClip } from '../transcription/speech-clips.ts';
import { guessOf } from '../transcription/track-language.ts';
import { joinWords } from '../transcription/words.ts';
import type { FileDecoders } from './decode.ts';
import type { ChannelMode } from './decode-messages.ts';
import { RecordingLanguages } from './recording-languages.ts';
import { divideTokens, type SpokenToken } from './spoken-tokens.ts';

/** Most channels of a recording that are transcribed by themselves. */
const SPLIT_CHANNELS_MAX = 2;
/**
 * Clips of one recording that engines may have or that may wait for one: enough that a second engine helps, and no
 * more, unless an engine reads more of them in one run.
 */
const CLIPS_IN_FLIGHT = 2;
/** Nobody waits for batch jobs; this only orders them among each other. */
const BATCH_DUE_MS = 60_000;

/** A stretch of speech as text. Times are ms of the recording. */
export interface Segment {
  /** Counts from 0; always 0 unless the channels were split. */
  readonly channel: number;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly words: readonly TimedWord[];
  /** Whether the recogniser said when the words were spoken, or their times are an estimate. */
  readonly wordTimes: 'aligned' | 'estimated';
  /**
   * The mean natural logarithm of the probabilities of the tokens of the clip that it is from; absent where the
   * recogniser has none.
   */
  readonly avgLogprob?: number;
  /** False: there is no confidence to be told from {@link avgLogprob}. */
  readonly isCalibrated?: boolean;
  /** BCP-47, where the recogniser found it out. */
  readonly language?: string;
  /** When they were asked for and the recogniser has them. */
  readonly tokens?: readonly SpokenToken[];
}

/** What a transcript warns of when its language is in doubt. */
export const OTHER_LANGUAGE_WARNING = 'what is said is probably in a language that this recogniser does not understand';

/** What was said in a recording. */
export interface RecordingTranscript {
  readonly durationMs: number;
  /** What was spoken, in BCP-47; null = probably nothing that the recogniser understands. */
  readonly spokenLanguage: string | null;
  /** Something that readers should know. */
  readonly warning?: string;
  /** In the order of their start. */
  readonly segments: readonly Segment[];
}

/** How far a recording is. */
export interface RecordingProgress {
  /** How much of it has been decoded and searched for speech; its last words may not be text yet. */
  readonly takenMs: number;
  /** About how much that is of the whole, from 0 to 1, by the bytes of its file. */
  readonly share: number;
}

/** A recording to transcribe. */
export interface RecordingTask {
  readonly path: string;
  /** Folder for files that are needed on the way; they are removed again. */
  readonly workFolder: string;
  readonly channels: ChannelMode;
  /** Whether the times of words matter; without, they are estimates and the work is done an eighth sooner. */
  readonly timed?: boolean;
  /** Whether {@link Segment.tokens} are wanted. */
  readonly spelled?: boolean;
  /** What is spoken: a code, an English name or `auto`; as DEFAULT_LANGUAGE says unless given. */
  readonly language?: string;
  /** Names and phrases that are likely to be said. */
  readonly hotWords?: readonly string[];
  /** Anything else that helps to understand the speech, for a recogniser that reads such text. */
  readonly context?: string;
  /** Somebody says that it is the recogniser's language: there is text whatever it sounds like, and a warning. */
  readonly isLanguageGiven?: boolean;
  /** Whose it is: tenants take turns. */
  readonly tenant: string;
  /** Ends the work at once: the promise fails with the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Called with each segment in the order of their start, as soon as it is there and the language is not in doubt.
   * That takes a few seconds of speech.
   */
  readonly onSegment?: (segment: Segment) => void;
  /** Called once with the number of channels that are transcribed by themselves, when it is known. */
  readonly onChannels?: (channels: number) => void;
  readonly onProgress?: (progress: RecordingProgress) => void;
}

/** What recordings are transcribed with. */
export interface Transcriber {
  readonly engine: Pick<Engine, 'detect' | 'transcribe' | 'languages' | 'start' | 'batchMax'> &
    Partial<Pick<Engine, 'abilities'>>;
  readonly decoders: Pick<FileDecoders, 'decode'>;
  readonly settings: ClipSettings & Pick<Settings, 'AUDIO_MAX_SECONDS' | 'DEFAULT_LANGUAGE'>;
}

/**
 * Transcribes one recording behind all live work. Memory does not grow with its length: audio is decoded no faster than
 * it is understood.
 * @throws TrunklineError `audio_unreadable`, `audio_too_long`, `upload_disk_full`, `unsupported_language` or
 * `engine_unavailable`; the reason of `signal` when that aborts
 */
export async function transcribeRecording(task: RecordingTask, transcriber: Transcriber): Promise<RecordingTranscript> {
  const end = new AbortController();
  const work = new Work({ ...task, signal: AbortSignal.any([task.signal, end.signal]) }, transcriber);
  try {
    return await work.run();
  } catch (error) {
    throw task.signal.aborted ? task.signal.reason : explain(error);
  } finally {
    end.abort();
  }
}

/**
 * What the recogniser understands, first the language that is assumed. Waits for an engine where none has been ready.
 * @throws EngineError
 */
export async function languagesOf(engine: Pick<Engine, 'languages' | 'start'>): Promise<readonly string[]> {
  if (engine.languages.length === 0) await engine.start();
  return engine.languages;
}

function explain(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  return new TrunklineError('engine_unavailable', `the speech engine could not finish the recording: ${error.message}`);
}

interface NumberedClip extends RecordedClip {
  readonly channel: number;
}

class Work {
  readonly #task: RecordingTask;
  readonly #transcriber: Transcriber;
  readonly #segments: Segment[] = [];
  /** Clips not yet begun: a clip of another channel may still begin before them. */
  #waiting: NumberedClip[] = [];
  #channels: Channel[] = [];
  /** Clips whose segments have not been emitted. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** Transcribed, but a segment of another channel may still come before them. */
  #unsent: Segment[] = [];
  /** The last delivered clip of each channel. */
  readonly #last: { readonly to: number; readonly text: string }[] = [];
  #delivered: Promise<void> = Promise.resolve();
  #takenSamples = 0;
  readonly #language = new LanguageEvidence();
  readonly #languages: RecordingLanguages;
  /** How many of the segments were told. */
  #told = 0;

  constructor(task: RecordingTask, transcriber: Transcriber) {
    this.#task = task;
    this.#transcriber = transcriber;
    const { engine, settings } = transcriber;
    this.#languages = new RecordingLanguages(task.language ?? settings.DEFAULT_LANGUAGE, engine);
  }

  async run(): Promise<RecordingTranscript> {
    const { settings, decoders } = this.#transcriber;
    const { path, workFolder, channels, tenant, signal, language = '' } = this.#task;
    if (!isAnyLanguage(language)) requireSpoken(language, await languagesOf(this.#transcriber.engine), 'language');
    const limits = { channelsMax: SPLIT_CHANNELS_MAX, maxSeconds: settings.AUDIO_MAX_SECONDS };
    for await (const stretch of decoders.decode({ path, workFolder, channels, tenant, signal, ...limits })) {
      await this.#take(stretch.channels);
      this.#task.onProgress?.({ takenMs: this.#takenMs, share: stretch.share });
    }
    await Promise.all(this.#channels.map(async (channel) => this.#waiting.push(...(await channel.finish()))));
    await this.#beginUpTo(Number.POSITIVE_INFINITY);
    await this.#delivered;
    this.#emit(Number.POSITIVE_INFINITY);
    return this.#finish();
  }

  async #finish(): Promise<RecordingTranscript> {
    const durationMs = this.#takenMs;
    const doubt = this.#language.isUnlikely ? { warning: OTHER_LANGUAGE_WARNING } : {};
    if (this.#language.isUnlikely && this.#task.isLanguageGiven !== true) {
      // What was told cannot be taken back.
      const segments = this.#segments.slice(0, this.#told);
      return { durationMs, spokenLanguage: null, segments, ...doubt };
    }
    this.#tell();
    const [assumed = ''] = await languagesOf(this.#transcriber.engine);
    const spokenLanguage = this.#languages.spoken ?? assumed;
    return { durationMs, spokenLanguage, segments: this.#segments, ...doubt };
  }

  get #takenMs(): number {
    return Math.round(samplesToMs(this.#takenSamples, ENGINE_RATE_HZ));
  }

  async #take(stretch: readonly Int16Array[]): Promise<void> {
    if (this.#channels.length === 0) {
      this.#channels = stretch.map((_, channel) => new Channel(channel, this.#task, this.#transcriber));
      this.#task.onChannels?.(stretch.length);
    }
    const cut = await Promise.all(
      this.#channels.map((channel, index) => channel.push(stretch[index] ?? new Int16Array(0))),
    );
    this.#waiting.push(...cut.flat());
    this.#takenSamples += stretch[0]?.length ?? 0;
    await this.#beginUpTo(Math.min(...this.#channels.map((channel) => channel.openFrom)));
  }

  /** Begins the clips before which no other can come any more, each as soon as few enough are under way. */
  async #beginUpTo(openFrom: number): Promise<void> {
    const sorted = this.#waiting.toSorted((a, b) => a.from - b.from || a.channel - b.channel);
    this.#waiting = sorted.filter((clip) => clip.from > openFrom);
    const inFlightMax = Math.max(CLIPS_IN_FLIGHT, this.#transcriber.engine.batchMax ?? 1);
    for (const clip of sorted.filter(({ from }) => from <= openFrom)) {
      if (this.#underWay.size >= inFlightMax) await Promise.race(this.#underWay);
      this.#begin(clip);
    }
  }

  #begin(clip: NumberedClip): void {
    const text = this.#transcribe(clip);
    const delivered = this.#delivered.then(async () =>
      this.#deliver(clip, await this.#inItsLanguage(clip, await text)),
    );
    this.#underWay.add(delivered);
    const done = (): unknown => this.#underWay.delete(delivered);
    // A failure is seen where the next place or the end is awaited, which may not be the case yet.
    for (const promise of [text, delivered]) promise.catch(() => undefined);
    delivered.then(done, done);
    this.#delivered = delivered;
  }

  /** What was read in a language that is doubted is read again in that of its channel. */
  async #inItsLanguage(clip: NumberedClip, read: Transcript): Promise<Transcript> {
    const guess = guessOf(read, clip.spliced.samples);
    const language = guess === null ? null : this.#languages.judge(guess, clip.channel);
    return language === null ? read : { ...(await this.#transcribe(clip, language)), language };
  }

  #transcribe(
    { spliced: { samples } }: RecordedClip,
    language: string | null = this.#languages.named,
  ): Promise<Transcript> {
    const { tenant, signal, timed = false, spelled = false, hotWords = [], context } = this.#task;
    return understandSpeech(this.#transcriber.engine, {
      samples,
      tenant,
      signal,
      timed,
      spelled,
      draft: [],
      use: 'final',
      urgency: 'batch',
      dueInMs: BATCH_DUE_MS,
      ...(language !== null && { language }),
      ...(hotWords.length > 0 && { hotWords }),
      ...(context !== undefined && { context }),
    });
  }

  #deliver(clip: NumberedClip, transcript: Transcript): void {
    const cleaned = cleanText(transcript.text);
    const before = this.#last[clip.channel];
    const text = before?.to === clip.from ? withoutDoubled(before.text, cleaned) : cleaned;
    this.#last[clip.channel] = { to: clip.to, text };
    const { isCalibrated = true } = transcript;
    const calibrated = calibratedOf(transcript);
    const timed = timeClipWords(text, calibrated.words, clip);
    this.#language.add(calibrated.logprobs);
    const { language } = transcript;
    if (language !== undefined) this.#languages.count(language, samplesToMs(clip.to - clip.from, ENGINE_RATE_HZ));
    const stretches = atPauses(timed.words, this.#transcriber.settings.ENDPOINT_MS);
    const tokens = divideTokens(transcript, stretches);
    const avgLogprob = meanLogprob(transcript.logprobs);
    for (const [index, words] of stretches.entries()) {
      const [first] = words;
      const last = words.at(-1);
      if (first === undefined || last === undefined) continue;
      const [startMs, endMs] = [first.startMs, last.endMs];
      const segment = { channel: clip.channel, text: joinWords('', words), startMs, endMs, words } as const;
      this.#unsent.push({
        ...segment,
        wordTimes: timed.wordTimes,
        ...(avgLogprob === null ? {} : { avgLogprob }),
        ...(isCalibrated ? {} : { isCalibrated }),
        ...(language === undefined ? {} : { language }),
        ...(tokens === null ? {} : { tokens: tokens[index] ?? [] }),
      });
    }
    this.#emit(this.#channels.length === 1 ? Number.POSITIVE_INFINITY : samplesToMs(clip.from, ENGINE_RATE_HZ));
  }

  /** Tells what begins no later than `upToMs`: no clip that is still to come begins before that. */
  #emit(upToMs: number): void {
    const sorted = this.#unsent.toSorted((a, b) => a.startMs - b.startMs || a.channel - b.channel);
    this.#unsent = sorted.filter(({ startMs }) => startMs > upToMs);
    this.#segments.push(...sorted.filter(({ startMs }) => startMs <= upToMs));
    const { isLanguageGiven = false } = this.#task;
    if (isLanguageGiven || this.#told > 0 || this.#language.isSettled) this.#tell();
  }

  #tell(): void {
    for (const segment of this.#segments.slice(this.#told)) this.#task.onSegment?.(segment);
    this.#told = this.#segments.length;
  }
}

/** Words between which there is a pause of `pauseMs` or more are apart. */
function atPauses(words: readonly TimedWord[], pauseMs: number): TimedWord[][] {
  const stretches: TimedWord[][] = [];
  for (const word of words) {
    const stretch = stretches.at(-1);
    const before = stretch?.at(-1);
    if (stretch !== undefined && before !== undefined && word.startMs - before.endMs < pauseMs) stretch.push(word);
    else stretches.push([word]);
  }
  return stretches;
}

/** One channel's way from samples to clips. */
class Channel {
  readonly #number: number;
  readonly #task: RecordingTask;
  readonly #engine: Transcriber['engine'];
  readonly #cutter: ClipCutter;
  #state: Float32Array | null = null;
  /** Less than a window, kept for the next stretch. */
  #rest: Int16Array = new Int16Array(0);

  constructor(number: number, task: RecordingTask, { engine, settings }: Transcriber) {
    this.#number = number;
    this.#task = task;
    this.#engine = engine;
    this.#cutter = new ClipCutter(settings);
  }

  get openFrom(): number {
    return this.#cutter.openFrom;
  }

  async push(samples: Int16Array): Promise<NumberedClip[]> {
    const all = joinSamples([this.#rest, samples]);
    const whole = all.length - (all.length % VAD_WINDOW_SAMPLES);
    this.#rest = all.slice(whole);
    return whole === 0 ? [] : this.#vad(all.slice(0, whole));
  }

  /** Also judges a last part shorter than a window, filled up with silence. */
  async finish(): Promise<NumberedClip[]> {
    const padded = new Int16Array(this.#rest.length === 0 ? 0 : VAD_WINDOW_SAMPLES);
    padded.set(this.#rest);
    const clips = padded.length === 0 ? [] : await this.#vad(padded);
    return [...clips, ...this.#own(this.#cutter.finish())];
  }

  async #vad(samples: Int16Array): Promise<NumberedClip[]> {
    const { tenant, signal } = this.#task;
    const { probabilities, state } = await this.#engine.detect({
      samples,
      state: this.#state,
      urgency: 'batch',
      tenant,
      signal,
    });
    this.#state = state;
    return this.#own(this.#cutter.push(samples, probabilities));
  }

  #own(clips: readonly RecordedClip[]): NumberedClip[] {
    return clips.map((clip) => ({ ...clip, channel: this.#number }));
  }
}
