/** Words as frequent as they are in speech, always the same: what benchmarks of the records store and look for. */
import { seededRandom } from '../../src/simulator/random.ts';

const VOCABULARY = 20_000;

const COMMON = (
  'the be to of and a in that have i it for not on with he as you do at this but his by from they we say her ' +
  'she or an will my one all would there their what so up out if about who get which go me when make can like ' +
  'time no just him know take people into year your good some could them see other than then now look only ' +
  'come its over think also'
).split(' ');
const SYLLABLES = (
  'ba be bi bo bu da de di do fa fe fi ga ge go ha he hi ho ja jo ka ke ki ko la le li lo lu ma me mi mo na ' +
  'ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi wa we wi ya yo za zo ing ter tion ment ' +
  'ness able com con dis'
).split(' ');

/** Words, the most frequent first: English ones, then made-up ones. */
export const WORDS: readonly string[] = makeWords();

function makeWords(): string[] {
  const random = seededRandom(1);
  const words = new Set(COMMON);
  while (words.size < VOCABULARY) {
    const syllables = Array.from({ length: 2 + Math.floor(random() * 3) }, () => SYLLABLES[Math.floor(random() * 73)]);
    words.add(syllables.join(''));
  }
  return [...words];
}

/** Draws words as often as Zipf's law has them. */
export function zipfWords(random: () => number): () => string {
  const sums = new Float64Array(WORDS.length);
  let sum = 0;
  for (let rank = 0; rank < WORDS.length; rank++) {
    sum += 1 / (rank + 2.7) ** 1.05;
    sums[rank] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, WORDS.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return WORDS[low] ?? '';
  };
}

/** A text of 5 to 16 words of `word`. */
export function zipfText(word: () => string, random: () => number): string {
  return Array.from({ length: 5 + Math.floor(random() * 12) }, word).join(' ');
}
