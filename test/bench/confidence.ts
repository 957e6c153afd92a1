/** What confidences are worth: of words and finals, of texts that nobody said, and of other languages. */
import { confidenceOf, LOW_CONFIDENCE, meanLogprob, wordConfidence } from '../../src/transcription/confidence.ts';
import { LanguageEvidence } from '../../src/transcription/language-evidence.ts';
import { uniform } from '../helpers/signals.ts';
import { type Bin, binsOf, type Claim, calibrationError, fitLogistic } from './confidence/calibration.ts';
import { Reader, type Reading } from './confidence/readings.ts';
import {
  humanEnglish,
  humanForeign,
  nothingSaid,
  syntheticEnglish,
  syntheticForeign,
} from './confidence/speech-sets.ts';
import { figure, type Report, type Table } from './report.ts';
import { linePlot } from './svg.ts';

const ERROR_MAX = 0.05;
/** A recording for the judgement of the language has this many tokens at least; of each set so many are drawn. */
const TOKENS = [8, 12, 24, 48, 100] as const;
const DRAWS = 1000;
const SPOKEN = /[\p{L}\p{N}]/u;

/** Runs the benchmark on every `every`-th prompt. */
export async function benchConfidence({ every }: { readonly every: number }): Promise<Report> {
  const reader = await Reader.load();
  const ours = await syntheticEnglish(every);
  const theirs = [...humanForeign(3 * every), ...(await syntheticForeign())];
  const nobody = nothingSaid([...theirs, ...ours]);
  const sounds = [...humanEnglish(every), ...ours, ...theirs, ...nobody];
  const readings: Reading[] = [];
  for (const [index, sound] of sounds.entries()) {
    readings.push(...(await reader.read(sound)));
    if (index % 20 === 0) process.stderr.write(`\r${index} of ${sounds.length} sounds `);
  }
  process.stderr.write('\n');
  const nobodySets = new Set(nobody.map(({ set }) => set));
  return report(
    readings.filter(({ set }) => !nobodySets.has(set)),
    readings.filter(({ set }) => nobodySets.has(set)),
    Math.round(nobody.reduce((sum, { samples }) => sum + samples.length / 8000, 0) / 60),
  );
}

function report(speech: readonly Reading[], nothing: readonly Reading[], nothingMinutes: number): Report {
  const english = speech.filter(({ isEnglish, words, logprobs }) => isEnglish && words > 0 && logprobs.length > 0);
  const heldOut = english.filter(({ source }) => source % 2 === 1);
  const words = binsOf(heldOut.flatMap(({ each }) => each.map(claimOfWord)));
  const finals = binsOf(heldOut.map(claimOfFinal));
  const languages = [...new Set(speech.map(({ set }) => set.replace(/^espeak-ng, .*/, 'espeak-ng, 20 languages')))].map(
    (set) => languageOf(set, speech),
  );
  const falseAlarms = languages.filter(({ set }) => /^human, (clean|noise [12][05] dB|5 %)/.test(set));
  const errors = [calibrationError(words), calibrationError(finals)];
  return {
    name: 'confidence',
    about:
      'How far confidences hold. English by a human voice (prompts of asterisk-core-sounds-en-wav, of one word and ' +
      'more), clean and over bad lines, by flite and by espeak-ng; five human voices in four other languages (the ' +
      'prompts of asterisk-core-sounds-es, -fr, -it, -ru and asterisk-prompt-it), espeak-ng in 20; everything over ' +
      '8 kHz µ-law. The constants were fitted on half of all prompts. These figures are of half of every third one, ' +
      'so some of them were among those.',
    plots: [{ name: 'reliability', title: 'Reliability', svg: reliability(words, finals) }],
    tables: [
      fitTable(english),
      binTable('Words', words),
      binTable('Finals', finals),
      setTable(heldOut),
      lowTable(heldOut),
      nothingTable(nothing, nothingMinutes),
      languageTable(languages),
    ],
    notes: NOTES,
    goals: [
      ...['words', 'finals'].map((name, index) => ({
        goal: `expected calibration error of ${name} ≤ ${ERROR_MAX}`,
        found: figure(errors[index] ?? Number.NaN, 3),
        met: (errors[index] ?? 1) <= ERROR_MAX,
      })),
      {
        goal: 'human English of 48 tokens and more, clean and over bad lines, is never taken for another language',
        found: `${figure(Math.max(...falseAlarms.map(({ shares }) => 100 * (shares[3] ?? 1))), 1)} % at most`,
        met: falseAlarms.every(({ shares }) => shares[3] === 0),
      },
    ],
  };
}

function claimOfWord({ probability, isRight }: Reading['each'][number]): Claim {
  return { probability: wordConfidence(probability), right: isRight ? 1 : 0, count: 1 };
}

function claimOfFinal({ logprobs, right, words }: Reading): Claim {
  return { probability: confidenceOf(logprobs) ?? 0, right, count: words };
}

/** What the constants would be if they were fitted to the other half. */
function fitTable(english: readonly Reading[]): Table {
  const fitted = english.filter(({ source }) => source % 2 === 0);
  const ofText = fitLogistic(
    fitted.map(({ logprobs, right, words }) => ({ logarithm: meanLogprob(logprobs) ?? 0, right, count: words })),
  );
  const ofWord = fitLogistic(
    fitted.flatMap(({ each }) =>
      each.map(({ probability, isRight }) => ({
        logarithm: Math.log(Math.max(probability, 1e-4)),
        right: isRight ? 1 : 0,
        count: 1,
      })),
    ),
  );
  return {
    title:
      'Curves that the other half of this run would give (src/transcription/confidence.ts has those of a run over all)',
    heads: ['', 'offset', 'slope'],
    rows: [
      ['final', figure(ofText.offset, 2), figure(ofText.slope, 2)],
      ['word', figure(ofWord.offset, 2), figure(ofWord.slope, 2)],
    ],
  };
}

function binTable(title: string, bins: readonly Bin[]): Table {
  return {
    title: `${title}: claimed and found, calibration error ${figure(calibrationError(bins), 3)}`,
    heads: ['claimed', 'found', 'words'],
    rows: bins.map(({ claimed, found, count }) => [figure(claimed, 2), figure(found, 2), count]),
  };
}

function setTable(heldOut: readonly Reading[]): Table {
  const sets = [...new Set(heldOut.map(({ set }) => set))];
  return {
    title: 'By set',
    heads: ['set', 'finals', 'words right, %', 'claimed, %'],
    rows: sets.map((set) => {
      const own = heldOut.filter((reading) => reading.set === set).map(claimOfFinal);
      const count = own.reduce((sum, claim) => sum + claim.count, 0);
      const right = own.reduce((sum, claim) => sum + claim.right, 0);
      const claimed = own.reduce((sum, claim) => sum + claim.probability * claim.count, 0);
      return [set, own.length, figure((100 * right) / count, 1), figure((100 * claimed) / count, 1)];
    }),
  };
}

/** What finals below a limit are. */
function lowTable(heldOut: readonly Reading[]): Table {
  return {
    title: `Finals below a limit (lowConfidence: below ${LOW_CONFIDENCE})`,
    heads: ['limit', '% of finals', '% of their words wrong', '% of them with a wrong word', '% of all right words'],
    rows: [0.3, 0.4, 0.5, 0.6, 0.7].map((limit) => {
      const low = heldOut.filter((reading) => claimOfFinal(reading).probability < limit);
      const [words, right] = [sumOf(low, 'words'), sumOf(low, 'right')];
      const faulty = low.filter((reading) => reading.right < reading.words).length;
      return [
        limit,
        percent(low.length, heldOut.length),
        percent(words - right, words),
        percent(faulty, low.length),
        percent(right, sumOf(heldOut, 'right')),
      ];
    }),
  };
}

function nothingTable(nothing: readonly Reading[], minutes: number): Table {
  const sets = [...new Set(nothing.map(({ set }) => set))];
  return {
    title: `Nothing said: ${minutes} minutes of signals, music, breath and babble, as recordings`,
    heads: ['set', 'pieces that voice detection let through', 'with words', 'of these lowConfidence'],
    rows: sets.map((set) => {
      const own = nothing.filter((reading) => reading.set === set);
      const invented = own.filter(({ text }) => SPOKEN.test(text));
      const marked = invented.filter(({ logprobs }) => (confidenceOf(logprobs) ?? 0) < LOW_CONFIDENCE);
      return [set, own.length, invented.length, marked.length];
    }),
  };
}

interface Language {
  readonly set: string;
  /** For each of {@link TOKENS}, the share of recordings that are taken for another language. */
  readonly shares: readonly number[];
  /** The same as certain, with the most tokens. */
  readonly certain: number;
}

/** Recordings of each length are drawn from a set's finals. */
function languageOf(set: string, speech: readonly Reading[]): Language {
  const own = speech.filter(
    (reading) => reading.set === set || (set.endsWith('languages') && /^espeak-ng, /.test(reading.set)),
  );
  const random = uniform(3);
  const draw = (tokens: number) => Array.from({ length: DRAWS }, () => drawEvidence(own, tokens, random));
  return {
    set,
    shares: TOKENS.map((tokens) => draw(tokens).filter(({ isUnlikely }) => isUnlikely).length / DRAWS),
    certain: draw(TOKENS.at(-1) ?? 0).filter(({ isCertain }) => isCertain).length / DRAWS,
  };
}

function drawEvidence(readings: readonly Reading[], tokens: number, random: () => number): LanguageEvidence {
  const evidence = new LanguageEvidence();
  const spoken = readings.filter(({ logprobs }) => logprobs.length > 0);
  let count = 0;
  while (count < tokens && spoken.length > 0) {
    const { logprobs } = spoken[Math.floor(random() * spoken.length)] ?? { logprobs: new Float32Array(1) };
    evidence.add(logprobs);
    count += logprobs.length;
  }
  return evidence;
}

function languageTable(languages: readonly Language[]): Table {
  return {
    title: '% of recordings taken for another language, by the tokens that they have at least (3 to 4 are a second)',
    heads: ['set', ...TOKENS.map(String), 'certain, of 100'],
    rows: languages.map(({ set, shares, certain }) => [
      set,
      ...shares.map((share) => figure(100 * share, 1)),
      figure(100 * certain, 1),
    ]),
  };
}

function reliability(words: readonly Bin[], finals: readonly Bin[]): string {
  const series = (name: string, bins: readonly Bin[]) => ({
    name,
    points: bins.map(({ claimed, found }) => [claimed, found] as const),
  });
  return linePlot({
    title: 'Reliability: how often what is claimed is right',
    x: { label: 'claimed' },
    y: { label: 'found' },
    series: [
      {
        name: 'exact',
        points: [
          [0, 0],
          [1, 1],
        ],
      },
      series('words', words),
      series('finals', finals),
    ],
  });
}

function sumOf(readings: readonly Reading[], what: 'words' | 'right'): number {
  return readings.reduce((sum, reading) => sum + reading[what], 0);
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : figure((100 * part) / whole, 1);
}

const NOTES = [
  'A final claims the share of its words that are right, a word that it is right. Words that are missing are ' +
    'nobody’s claim.',
  'One human voice is all the English there is here: other voices, accents and rooms will move the curves. The words ' +
    'of espeak-ng’s English, which is harder to understand than people, show how far.',
  'Recordings for the language are drawn from the finals of a set. The Spanish voice is the English one’s, so it is ' +
    'not the voice that is told apart. espeak-ng’s English is often taken for another language where it is short: ' +
    'more than half of its words are misread. People whose English is read as badly would be, too. Naming the ' +
    'language prevents it.',
];
