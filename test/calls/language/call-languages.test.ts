import { describe, expect, it } from 'vitest';
import type { CaptionEvent, LanguageEvent } from '../../../src/calls/feed/events.ts';
import { CallLanguages } from '../../../src/calls/language/call-languages.ts';
import { NumberBook, parseNumbers } from '../../../src/calls/language/numbers-file.ts';
import type { TranscribeRequest } from '../../../src/engine-client/engine.ts';
import { type Gateway, startCalls } from '../harness.ts';

const WORDS: Readonly<Record<string, string>> = { en: 'good morning', de: 'guten Morgen', ja: 'おはようございます' };
type CallLanguagesOptions = ConstructorParameters<typeof CallLanguages>[0];
const SURE = Float32Array.of(-0.01, -0.01);

interface Setup {
  readonly environment?: Record<string, string>;
  readonly guesses?: boolean;
  readonly hotWords?: boolean;
}

/** A gateway whose recogniser understands three languages, and finds out what `spoken` is. */
class Multilingual {
  readonly gateway: Gateway;
  spoken = 'en';

  constructor({ environment = {}, guesses = true, hotWords = true }: Setup = {}) {
    this.gateway = startCalls(environment);
    const { engine } = this.gateway;
    engine.languages = ['en', 'de', 'ja'];
    engine.abilities = {
      drafts: true,
      wordTimes: false,
      logprobs: true,
      confidence: true,
      languageGuess: guesses,
      hotWords,
      expectedWords: false,
      textDrafts: false,
      context: false,
      streams: false,
    };
    engine.hear = ({ language }: TranscribeRequest) => ({
      text: WORDS[language ?? (guesses ? this.spoken : 'en')] ?? '',
      logprobs: SURE,
      ...(language === undefined && guesses && { language: this.spoken }),
    });
  }

  numbers(text: string): this {
    Object.assign(this.gateway.context, { numbers: new NumberBook(parseNumbers(text, 'numbers.yaml')) });
    return this;
  }

  async utterances(...spoken: readonly (readonly [string, number])[]): Promise<void> {
    for (const [language, ms] of spoken) {
      this.spoken = language;
      this.caller.speak(ms);
      await this.gateway.clock.run(100);
      this.caller.hush(700);
      await this.gateway.clock.run(100);
    }
  }

  caller = { speak: (_ms: number) => this.caller, hush: (_ms: number) => this.caller } as ReturnType<Gateway['dial']>;

  async call(parameters: Record<string, string> = {}): Promise<this> {
    this.caller = this.gateway.dial().start({ parameters });
    await this.gateway.clock.run(300);
    return this;
  }

  get told(): Partial<LanguageEvent>[] {
    return this.gateway.events
      .filter((event) => event.type === 'language')
      .map(({ type: _type, callId: _callId, atMs: _atMs, ...news }) => news);
  }

  get finals(): CaptionEvent[] {
    return this.gateway.events.filter((event): event is CaptionEvent => event.type === 'caption' && event.final);
  }

  get read(): (readonly [string, string | null | undefined])[] {
    return this.finals.map(({ text, language }) => [text, language]);
  }
}

describe('the language of a call', () => {
  it('is what its parameters name, before its number and the setting', async () => {
    const call = new Multilingual({ environment: { DEFAULT_LANGUAGE: 'ja' } });
    await call.numbers('numbers: [{number: "*", language: ja}]').call({ language: 'de-DE', to: '+4930' });
    await call.utterances(['en', 1000]);
    expect(call.told).toEqual([{ track: 'inbound', language: 'de', by: 'call' }]);
    expect(call.read).toEqual([['guten Morgen', 'de']]);
    expect(call.gateway.engine.transcribed.every(({ language }) => language === 'de')).toBe(true);
  });

  it('is what transcriptionLanguage says, before language', async () => {
    const call = await new Multilingual().call({ language: 'de', TranscriptionLanguage: 'japanese' });
    expect(call.told).toEqual([{ track: 'inbound', language: 'ja', by: 'call' }]);
  });

  it('is the setting where nobody else names one', async () => {
    const call = await new Multilingual({ environment: { DEFAULT_LANGUAGE: 'de' } }).call();
    await call.utterances(['en', 1000]);
    expect([call.told, call.read]).toEqual([
      [{ track: 'inbound', language: 'de', by: 'setting' }],
      [['guten Morgen', 'de']],
    ]);
  });

  it('is told of all tracks', async () => {
    const call = new Multilingual();
    call.gateway.dial().start({ tracks: ['inbound', 'outbound'], parameters: { language: 'ja' } });
    expect(call.told.map(({ track }) => track)).toEqual(['inbound', 'outbound']);
  });

  it('is not told, and stands beside no text, where nobody names one and the recogniser has no choice', async () => {
    const call = await new Multilingual({ guesses: false }).call();
    await call.utterances(['en', 1000]);
    expect([call.told, call.read]).toEqual([[], [['good morning', undefined]]]);
    expect(call.gateway.engine.transcribed.some((request) => 'language' in request || 'hotWords' in request)).toBe(
      false,
    );
  });

  it('is that of captions as if nobody had named one where it is not understood, and that is told', async () => {
    const call = await new Multilingual({ guesses: false }).call({ language: 'fr-CA' });
    await call.utterances(['en', 1000]);
    expect(call.told).toEqual([{ track: 'inbound', language: 'en', by: 'call', refused: 'fr-CA' }]);
    expect(call.read).toEqual([['good morning', undefined]]);
    const warning = call.gateway.logLines.find((line) => line.includes('is not understood')) ?? '';
    expect(JSON.parse(warning)).toMatchObject({ language: 'fr-CA', by: 'call', understood: ['en', 'de', 'ja'] });
    expect(warning).toContain('trunkline models add parakeet-tdt-0.6b-v3');
  });

  it('waits for an engine that says what is understood', async () => {
    const call = new Multilingual();
    call.gateway.engine.languages = [];
    await call.call({ language: 'de' });
    expect(call.told).toEqual([]);
    call.gateway.engine.languages = ['en', 'de'];
    await call.gateway.clock.run(300);
    expect(call.told).toEqual([{ track: 'inbound', language: 'de', by: 'call' }]);
  });
});

describe('a language that is found out', () => {
  it('is told when two utterances agree, and changes in mid-call', async () => {
    const call = await new Multilingual().call();
    await call.utterances(['en', 1000], ['en', 1000], ['ja', 1000], ['ja', 1000], ['ja', 1000]);
    expect(call.told).toEqual([
      { track: 'inbound', language: 'en', by: 'heard' },
      { track: 'inbound', language: 'ja', by: 'heard' },
    ]);
    expect(call.read).toEqual([
      ['good morning', 'en'],
      ['good morning', 'en'],
      // One short utterance alone is read in the language of the call.
      ['good morning', 'en'],
      ['おはようございます', 'ja'],
      ['おはようございます', 'ja'],
    ]);
  });

  it('is what the API names in mid-call, from the next utterance on, which is not read with those before it', async () => {
    const call = await new Multilingual({ guesses: false }).call({ language: 'en' });
    await call.utterances(['en', 1000]);
    expect(call.gateway.registry.setLanguage('CA1', 'German')).toBe(true);
    expect(() => call.gateway.registry.setLanguage('CA1', 'fr')).toThrow(/French|fr/);
    expect(call.gateway.registry.setLanguage('CA2', 'de')).toBe(false);
    await call.utterances(['de', 1000]);
    await call.gateway.clock.run(4000);
    expect(call.told).toEqual([
      { track: 'inbound', language: 'en', by: 'call' },
      { track: 'inbound', language: 'de', by: 'api' },
    ]);
    expect(call.read).toEqual([
      ['good morning', 'en'],
      ['guten Morgen', 'de'],
    ]);
    expect(call.gateway.events.filter(({ type }) => type === 'revision')).toEqual([]);
  });

  it('changes at once with a long utterance whose text is sure', async () => {
    const call = await new Multilingual().call();
    await call.utterances(['en', 4000], ['ja', 4000], ['en', 800]);
    expect(call.told.map(({ language }) => language)).toEqual(['en', 'ja']);
    expect(call.read.map(([, language]) => language)).toEqual(['en', 'ja', 'ja']);
  });

  it('comes before the caption that settles it, from its beginning', async () => {
    const call = await new Multilingual().call();
    await call.utterances(['de', 4000]);
    const { events } = call.gateway;
    const at = events.findIndex(({ type }) => type === 'language');
    const caption = events.findIndex((event) => event.type === 'caption' && event.final);
    expect(at).toBe(caption - 1);
    expect(events[at]).toMatchObject({ atMs: call.finals[0]?.startMs });
  });

  it('is asked for again when a call says auto', async () => {
    const call = await new Multilingual({ environment: { DEFAULT_LANGUAGE: 'de' } }).call({ language: 'auto' });
    await call.utterances(['ja', 4000]);
    expect(call.read).toEqual([['おはようございます', 'ja']]);
  });
});

describe('hot words', () => {
  it('are those of the call, of its number, and the names of those who speak', async () => {
    const call = new Multilingual().numbers('numbers: [{number: "*", hotWords: [Trunkline, ISDN]}]');
    await call.call({ hotWords: 'Müller, ISDN', callerName: 'Ann Lee', to: '+49' });
    await call.utterances(['en', 1000]);
    expect(call.gateway.engine.transcribed.at(-1)?.hotWords).toEqual(['Müller', 'ISDN', 'Trunkline', 'Ann Lee']);
  });

  it('are cut to what a recogniser takes, and that is logged without them', async () => {
    const words = Array.from({ length: 120 }, (_, n) => `word${n}`).join(',');
    const call = await new Multilingual().call({ hotWords: `${'x'.repeat(65)},${words}` });
    await call.utterances(['en', 1000]);
    expect(call.gateway.engine.transcribed.at(-1)?.hotWords).toHaveLength(100);
    const warning = call.gateway.logLines.find((line) => line.includes('hot words')) ?? '';
    expect(JSON.parse(warning)).toMatchObject({ hotWords: 121, taken: 100 });
    expect(warning).not.toContain('word1');
  });

  it('are told to be of no use where the recogniser has none for them', async () => {
    const call = await new Multilingual({ hotWords: false }).call({ hotWords: 'Müller' });
    expect(call.gateway.logLines.filter((line) => line.includes('no use for'))).toHaveLength(1);
  });
});

describe('a call whose carrier names one language after the other', () => {
  it('is told of them all, and the log of a few', () => {
    const warned: unknown[] = [];
    const published: unknown[] = [];
    const engine: CallLanguagesOptions['context']['engine'] = { languages: [], abilities: null };
    const languages = new CallLanguages({
      start: { tracks: ['inbound'], to: null },
      summary: { beginning: { parameters: { language: null, hotWords: [], names: {} } } },
      context: { engine, settings: { DEFAULT_LANGUAGE: '' } },
      log: { warn: (line: unknown) => void warned.push(line) },
      publish: (news: unknown) => void published.push(news),
    } as unknown as CallLanguagesOptions);
    for (let n = 0; n < 1000; n++) languages.suggest({ language: 'tlh', by: 'call' });
    Object.assign(engine, { languages: ['en'] });
    languages.settle();
    expect(published).toHaveLength(16);
    for (let n = 0; n < 1000; n++) languages.suggest({ language: 'tlh', by: 'call' });
    expect(published).toHaveLength(1016);
    expect(warned).toHaveLength(10);
  });
});
