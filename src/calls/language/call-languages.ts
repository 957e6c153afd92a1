/** The languages of one call's tracks, and the words that are expected in it. */
import type { Engine } from '../../engine-client/engine.ts';
import { boundHotWords, tidyHotWords } from '../../foundation/hot-words.ts';
import { matchLanguage } from '../../foundation/languages.ts';
import type { Log } from '../../foundation/log/log.ts';
import { adviceFor, isAnyLanguage, requireSpoken } from '../../foundation/recogniser-languages.ts';
import type { Settings } from '../../foundation/settings/settings.ts';
import type { CallStart, Track } from '../../protocols/dialect.ts';
import type { ExpectedAnswer } from '../../transcription/expected-answer.ts';
import { type ExpectedSpeech, TrackLanguage } from '../../transcription/track-language.ts';
import type { CallNames } from '../call-names.ts';
import type { CallParameters } from '../call-parameters.ts';
import type { LanguageEvent } from '../feed/events.ts';
import type { Numbers } from './numbers.ts';
import type { NumberEntry } from './numbers-file.ts';
import type { NamedLanguage } from './spoken-language.ts';

/** What a track's language is now, as it is told. */
export type LanguageNews = Pick<LanguageEvent, 'track' | 'language' | 'by' | 'refused'>;

interface CallLanguagesOptions {
  readonly start: Pick<CallStart, 'to' | 'tracks'>;
  readonly summary: { readonly beginning: { readonly parameters: Parameters } };
  readonly context: {
    readonly engine: Pick<Engine, 'languages' | 'abilities'>;
    readonly numbers?: Pick<Numbers, 'find'>;
    readonly settings: Pick<Settings, 'DEFAULT_LANGUAGE'>;
  };
  readonly log: Log;
  readonly publish: (news: LanguageNews) => void;
}

/** Carriers may name another language with each message: so many that are not understood are logged, */
const REFUSALS_LOGGED_MAX = 10;
/** and so many wait for the engine, of which the last one counts. */
const OPEN_MAX = 16;

type Parameters = Pick<CallParameters, 'language' | 'hotWords' | 'names'>;

/**
 * Whoever is nearest to the call names its language: its parameters, then its number, then the setting. It can only be
 * compared with what the recogniser understands once an engine has been ready; a language that is not understood is
 * told, and the call goes on as if nobody had named one.
 */
export class CallLanguages {
  readonly #options: CallLanguagesOptions;
  /** The hot words of the call, of its number and of its app. */
  readonly #asked: string[];
  readonly #tracks: ReadonlyMap<Track, ExpectedSpeech>;
  /** It was told that the recogniser has no use for hot words, or there are none. */
  #isWarned = false;
  /** Languages that are not understood, as often as the log told of one. */
  #refusals = 0;
  /** Named and not yet compared. */
  #open: { readonly named: NamedLanguage; readonly tracks: readonly Track[] }[] = [];

  constructor(options: CallLanguagesOptions) {
    const { start, summary, context, log } = options;
    const { parameters } = summary.beginning;
    const number = context.numbers?.find(start.to) ?? null;
    this.#options = options;
    this.#asked = [...parameters.hotWords, ...(number?.hotWords ?? [])];
    const hotWords = boundedWith(this.#asked, parameters.names, log);
    this.#tracks = new Map(start.tracks.map((track) => [track, { language: new TrackLanguage(), hotWords }]));
    const named = namedIn(parameters, number, context.settings.DEFAULT_LANGUAGE);
    if (named !== null) this.#open.push({ named, tracks: start.tracks });
  }

  /** What is known of the speech on a track. */
  of(track: Track): ExpectedSpeech {
    return this.#tracks.get(track) ?? { language: new TrackLanguage(), hotWords: [] };
  }

  /** What the caller is asked from now on; null = nothing of which answers can be expected. */
  expectAnswer(answer: ExpectedAnswer | null): void {
    const caller = this.#tracks.get('inbound');
    if (caller !== undefined) caller.answer = answer;
  }

  /** These are likely to be said, too, from now on. */
  expectWords(words: readonly string[]): void {
    if (words.length === 0) return;
    this.#asked.push(...words);
    const hotWords = boundedWith(this.#asked, this.#options.summary.beginning.parameters.names, this.#options.log);
    for (const known of this.#tracks.values()) known.hotWords = hotWords;
  }

  /** The caller's language, named or found, in BCP-47; null = not known. */
  get caller(): string | null {
    return this.of('inbound').language.current;
  }

  /** Compares what was named with what is understood, as soon as that is known. To be called a few times a second. */
  settle(): void {
    if (this.#options.context.engine.languages.length === 0) return;
    this.#warnOfHotWords();
    for (const { named, tracks } of this.#open.splice(0)) this.#settle(named, tracks);
  }

  /** As the call's parameters name it: one that is not understood is told, and passed over. */
  suggest(named: NamedLanguage, tracks: readonly Track[] = this.#options.start.tracks): void {
    this.#open.push({ named, tracks });
    if (this.#open.length > OPEN_MAX) this.#open.shift();
    this.settle();
  }

  /**
   * From now on `language` is spoken; `auto` = the recogniser finds out.
   * @throws TrunklineError `unsupported_language`
   */
  name({ language, by }: NamedLanguage, param: string, tracks: readonly Track[] = this.#options.start.tracks): void {
    const { engine } = this.#options.context;
    if (engine.languages.length === 0) this.suggest({ language, by }, tracks);
    else this.#name(requireSpoken(language, engine.languages, param), by, tracks);
  }

  #warnOfHotWords(): void {
    const { context, log } = this.#options;
    if (this.#isWarned || context.engine.abilities?.hotWords !== false) return;
    this.#isWarned = true;
    if (this.#asked.length > 0) log.warn('the call has hot words, which the recogniser has no use for');
  }

  #settle({ language, by }: NamedLanguage, tracks: readonly Track[]): void {
    const { context, log, publish } = this.#options;
    const { engine } = context;
    if (isAnyLanguage(language)) {
      this.#name(null, by, tracks);
      return;
    }
    const found = matchLanguage(language, engine.languages);
    if (found !== null) {
      this.#name(found, by, tracks);
      return;
    }
    const { languages, abilities } = engine;
    this.#refusals++;
    if (this.#refusals <= REFUSALS_LOGGED_MAX)
      log.warn(
        { language, by, understood: languages },
        `the language of the call is not understood, its captions are as if none was named${adviceFor(language)}`,
      );
    const usual = abilities?.languageGuess === true ? null : (languages[0] ?? null);
    for (const track of tracks) publish({ track, language: usual, by, refused: language });
  }

  #name(language: string | null, by: NamedLanguage['by'], tracks: readonly Track[]): void {
    for (const track of tracks) {
      const known = this.#tracks.get(track)?.language;
      if (known === undefined || known.named === language) continue;
      known.name(language);
      this.#options.publish({ track, language, by });
    }
  }
}

/** Null = nobody names one. */
function namedIn(parameters: Parameters, number: NumberEntry | null, usual: string): NamedLanguage | null {
  if (parameters.language !== null) return { language: parameters.language, by: 'call' };
  if (number !== null && number.language !== null) return { language: number.language, by: 'number' };
  return isAnyLanguage(usual) ? null : { language: usual, by: 'setting' };
}

/** Names of people are said, too; they come last. */
function boundedWith(asked: readonly string[], { inbound, outbound }: CallNames, log: Log): readonly string[] {
  const all = tidyHotWords([...asked, inbound ?? '', outbound ?? '']);
  const taken = boundHotWords(all);
  if (taken.length < all.length)
    log.warn({ hotWords: all.length, taken: taken.length }, 'the call has more or longer hot words than are taken');
  return taken;
}
