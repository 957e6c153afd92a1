/** Simulated callees: what is heard of whoever answers, by our own voices, human prompts of Debian, and arithmetic. */
import { existsSync, readFileSync } from 'node:fs';
import { decodeG711, encodeG711 } from '../../../src/audio/g711.ts';
import { toneSamples } from '../../../src/audio/tones/tone-samples.ts';
import { readWav } from '../../../src/audio/wav.ts';
import type { AnsweredBy } from '../../../src/calls/answered/answered-by.ts';
import type { Engine } from '../../../src/engine-client/engine.ts';
import { MULAW_8K } from '../../../src/foundation/units.ts';
import { faxAnswer } from '../../helpers/fax-signals.ts';
import { gaussian, LINE_RATE_HZ, nonSpeechSignals, pinkNoise, uniform } from '../../helpers/signals.ts';
import { concatenate } from '../prompts.ts';
import { toLineRate } from '../whole-recordings.ts';
import type { AnswerTexts } from './texts.ts';

/** One who answers. */
export interface Callee {
  readonly kind: string;
  readonly what: string;
  readonly by: AnsweredBy;
  /** 8 kHz, as µ-law leaves it. */
  readonly samples: Int16Array;
  /** Of a person: where their first words end, in ms. */
  readonly spokeUntilMs: number | null;
  /** Where the beep ends, in ms; null = there is none. */
  readonly beepEndMs: number | null;
}

const VOICES = ['hibari:heart', 'rms', 'slt', 'awb', 'hibari:michael', 'kal'];
/** Where Debian puts human prompts, and those of four languages there. */
export const SOUNDS = '/usr/share/asterisk/sounds';
export const HUMANS = {
  English: 'en_US_f_Allison',
  Italian: 'it_IT_m_Carlo',
  Spanish: 'es_MX_f_Allison',
  French: 'fr_CA_f_June',
};
/** Prompts of Asterisk's voicemail, one after the other as it plays them. */
const HUMAN_MACHINES = [
  ['vm-theperson', 'digits/6', 'digits/0', 'digits/2', 'vm-isunavail', 'vm-intro'],
  ['vm-theperson', 'digits/4', 'digits/1', 'digits/7', 'vm-isonphone', 'vm-intro'],
  ['vm-intro'],
];
const BEEPS_HZ = [440, 620, 850, 1000, 1209, 1400, 2000];
const QUIET_RMS = 0.0005;
/** People wait to be answered, machines record. */
const AFTER_MS = 5000;

const ms = (durationMs: number): Int16Array => new Int16Array((durationMs * LINE_RATE_HZ) / 1000);
const lengthMs = (samples: Int16Array): number => (samples.length * 1000) / LINE_RATE_HZ;

/** Makes callees, the same ones each time. */
export class CalleeMaker {
  readonly #engine: Engine;
  readonly #random = uniform(11);
  readonly #voices: readonly string[];
  #made = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
    const known = engine.voices.map(({ name }) => name);
    this.#voices = VOICES.filter((voice) => known.includes(voice));
  }

  /** All callees whose texts are these; with `every`, each so-many-th of them. */
  async all(texts: AnswerTexts, every: number): Promise<Callee[]> {
    const makers = [
      ...this.#people(texts),
      ...this.#machines(texts),
      ...this.#humans(),
      ...this.#menus(texts),
      ...this.#others(),
    ];
    const made: Callee[] = [];
    for (const [index, make] of makers.entries()) if (index % every === 0) made.push(await make());
    return made;
  }

  #people(texts: AnswerTexts): (() => Promise<Callee>)[] {
    const plain = texts.people.flatMap((text) =>
      [0, 1].map(() => async () => this.#person('person', [text], QUIET_RMS)),
    );
    const slow = texts.slowPeople.flatMap((parts) =>
      [0, 1].map(() => async () => this.#person('person, slow', parts, QUIET_RMS)),
    );
    const loud = texts.people.map((text) => async () => this.#person('person, loud place', [text], 0.02));
    return [...plain, ...slow, ...loud];
  }

  async #person(kind: string, parts: readonly string[], noiseRms: number): Promise<Callee> {
    const voice = this.#nextVoice();
    const spoken: Int16Array[] = [ms(this.#between(300, 1400))];
    for (const [index, part] of parts.entries()) {
      if (index > 0) spoken.push(ms(this.#between(300, 650)));
      spoken.push(await this.#say(part, voice, parts.length > 1 ? 0.85 : 1));
    }
    const speech = concatenate(spoken);
    return {
      kind,
      what: `${voice}: ${parts.join(' … ')}`,
      by: 'person',
      samples: this.#onLine([speech, ms(AFTER_MS)], noiseRms),
      spokeUntilMs: lengthMs(speech),
      beepEndMs: null,
    };
  }

  #machines(texts: AnswerTexts): (() => Promise<Callee>)[] {
    const make = (kind: string, text: string, music: boolean) => async () => {
      const voice = this.#nextVoice();
      return this.#machine(kind, `${voice}: ${text}`, [await this.#say(text, voice, 1)], music);
    };
    return [
      ...texts.shortMachines.flatMap((text) => [0, 1].map(() => make('machine, short', text, false))),
      ...texts.longMachines.flatMap((text) => [0, 1].map(() => make('machine, long', text, false))),
      ...texts.longMachines.map((text) => make('machine, with music', text, true)),
    ];
  }

  #machine(kind: string, what: string, greeting: readonly Int16Array[], music: boolean): Callee {
    const beep = toneSamples(
      { toneHz: BEEPS_HZ[this.#made % BEEPS_HZ.length] as number, durationMs: this.#between(180, 900) },
      LINE_RATE_HZ,
    );
    const before = [ms(this.#between(200, 1500)), ...greeting];
    const spoken = concatenate(before);
    const under = music ? mixed(spoken, this.#music(lengthMs(spoken))) : spoken;
    const upToBeep = concatenate([under, ms(this.#between(250, 900)), beep]);
    const samples = this.#onLine([upToBeep, ms(AFTER_MS)], QUIET_RMS);
    return { kind, what, by: 'machine', samples, spokeUntilMs: null, beepEndMs: lengthMs(upToBeep) };
  }

  /** Softer than the speech. */
  #music(durationMs: number): Int16Array {
    const seconds = Math.ceil(durationMs / 1000);
    const music = nonSpeechSignals(seconds)['hold music (chords)'] as Int16Array;
    return music.map((sample) => Math.round(sample * 0.35));
  }

  #humans(): (() => Promise<Callee>)[] {
    return Object.entries(HUMANS).flatMap(([language, folder]) => {
      if (!existsSync(`${SOUNDS}/${folder}`)) return [];
      const machines = HUMAN_MACHINES.map((names) => async () => {
        const greeting = names.map((name) => soundOf(folder, name));
        return this.#machine(`machine, human, ${language}`, names.join(' '), greeting, false);
      });
      const person = async (): Promise<Callee> => {
        const speech = concatenate([ms(this.#between(300, 1400)), soundOf(folder, 'hello')]);
        return {
          kind: `person, human, ${language}`,
          what: 'hello',
          by: 'person',
          samples: this.#onLine([speech, ms(AFTER_MS)], QUIET_RMS),
          spokeUntilMs: lengthMs(speech),
          beepEndMs: null,
        };
      };
      return existsSync(`${SOUNDS}/${folder}/hello.wav`) ? [...machines, person] : machines;
    });
  }

  #menus(texts: AnswerTexts): (() => Promise<Callee>)[] {
    return texts.menus.flatMap((text) =>
      [0, 1].map(() => async () => {
        const voice = this.#nextVoice();
        const speech = [ms(this.#between(200, 1500)), await this.#say(text, voice, 1)];
        const samples = this.#onLine([...speech, ms(AFTER_MS)], QUIET_RMS);
        return { kind: 'menu', what: `${voice}: ${text}`, by: 'machine', samples, spokeUntilMs: null, beepEndMs: null };
      }),
    );
  }

  #others(): (() => Promise<Callee>)[] {
    const noise = [0, QUIET_RMS, 0.002, 0.006];
    const faxes = [
      { ced: true, reversals: false },
      { ced: true, reversals: true },
      { ced: false, reversals: false },
    ];
    return [
      ...faxes.flatMap((how) =>
        [QUIET_RMS, 0.004].map((rms) => async (): Promise<Callee> => {
          const samples = this.#onLine([ms(this.#between(300, 2000)), faxAnswer(how), ms(2000)], rms);
          return { kind: 'fax', what: JSON.stringify(how), by: 'fax', samples, spokeUntilMs: null, beepEndMs: null };
        }),
      ),
      ...noise.map((rms) => async (): Promise<Callee> => {
        const samples = this.#onLine([ms(11_000)], rms);
        return { kind: 'silence', what: `noise ${rms}`, by: 'unknown', samples, spokeUntilMs: null, beepEndMs: null };
      }),
    ];
  }

  async #say(text: string, voice: string, speed: number): Promise<Int16Array> {
    const request = { text, voice, speed, urgency: 'batch', dueInMs: 600_000 } as const;
    const { samples, rateHz } = await this.#engine.speak(request);
    return trimmed(toLineRate(samples, rateHz));
  }

  #onLine(parts: readonly Int16Array[], noiseRms: number): Int16Array {
    this.#made++;
    const clean = concatenate(parts);
    const seconds = Math.ceil(lengthMs(clean) / 1000);
    const noise = noiseRms === 0 ? null : pinkNoise(seconds, noiseRms, gaussian(this.#made));
    const line = noise === null ? clean : mixed(clean, noise);
    return decodeG711(encodeG711(line, MULAW_8K), MULAW_8K);
  }

  #between(least: number, most: number): number {
    return Math.round((least + this.#random() * (most - least)) / 20) * 20;
  }

  #nextVoice(): string {
    return this.#voices[this.#made % this.#voices.length] as string;
  }
}

function soundOf(folder: string, name: string): Int16Array {
  return readWav(readFileSync(`${SOUNDS}/${folder}/${name}.wav`)).channels[0] as Int16Array;
}

function mixed(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, at) => Math.max(-32_768, Math.min(32_767, sample + (other[at] ?? 0))));
}

/** Without the silence at its ends. */
function trimmed(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) > 200;
  const from = Math.max(samples.findIndex(isLoud), 0);
  return samples.subarray(from, samples.findLastIndex(isLoud) + 1);
}
