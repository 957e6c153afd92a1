/**
 * Takes our own voice out of what comes back from the caller. Four steps, block by block of 8 ms: the delay of the echo
 * is found and followed; an adaptive filter foretells the echo, which is taken away; a gate judges whether what is left
 * is the caller or a rest of the echo; the rest is turned down to the noise of the line. While we are silent the sound
 * passes as it is, at no cost.
 */
import { joinSamples } from '../mix.ts';
import { toSample } from '../pcm.ts';
import { energyOf } from '../power.ts';
import { AdaptiveFilter } from './adaptive-filter.ts';
import { DELAY_MAX_MS, DelayFinder, type FoundDelay } from './delay-finder.ts';
import { EchoGate, type GateBlock, NOTHING_DB } from './echo-gate.ts';
import { SentSound } from './sent-sound.ts';

/** Blocks in a second: each has 8 ms. */
const BLOCKS_PER_S = 125;
/** The filter's length, in blocks: echoes of up to 112 ms behind their beginning. */
const PARTITIONS = 16;
/** So much of the filter lies before the delay that was found, in blocks: nothing may come before it. */
const MARGIN_BLOCKS = 2;
/** By so many blocks an echo may seem to come before the sound: times of carriers are not known better. */
const EARLY_BLOCKS = 2;
/** Sent sound that is kept: what the carrier has buffered, and what may still come back. In ms. */
const KEPT_MS = 4096;
/** What is taken back may sound for so long, until the carrier has stopped. */
const LATE_STOP_MS = 120;
/** Speech leans to low frequencies; evened out, all of them are learned as fast. */
const EMPHASIS = 0.9;
/** Blocks that wait for the judgement of those behind them, so that no beginning of a word is lost. */
const LOOK_AHEAD_BLOCKS = 6;
/** They wait longer where the line is not known and it shows only later whether the caller speaks. */
const UNDECIDED_BLOCKS = 85;
/** Blocks between two looks for the delay: until it is known or in doubt, and after that. */
const SEARCHING_BLOCKS = 8;
const FOLLOWING_BLOCKS = 64;
/** A delay counts when it stands out by this in two looks in a row, or so much in one. */
const CERTAIN = 8;
const CERTAIN_AT_ONCE = 14;
/** Two looks agree when they are no further apart than this, in ms. */
const AGREES_MS = 1;
/** The filter follows by itself what moves by less than this, in ms. */
const MOVES_MS = 2;
/** What was sent dies away behind its end by this, in dB a block: a room with 0.3 s of reverberation. */
const DECAY_DB = 1.6;
/** A telephone's buffer may slip, so that the echo comes earlier by so many blocks. */
const EARLIER_BLOCKS = 4;
/** Before that it is as loud as at its end: words have gaps, and what was sent may come later than it is known to. */
const STEADY_BLOCKS = 20;
const TINY = 1;
const TRUST_SHARE = 0.1;
const TRUE_SHARE = 0.3;
/** White noise is so much louder evened out than it is, and white noise evened out by so much louder than that. */
const WHITE_DB = 10;
/** What is not the caller is softer than the noise of the line by this. */
const HIDDEN_DB = 25;

const NO_SAMPLES = new Int16Array(0);

export class EchoCanceller {
  readonly #block: number;
  readonly #rateHz: number;
  readonly #sent: SentSound;
  readonly #finder: DelayFinder;
  readonly #filter: AdaptiveFilter;
  readonly #gate = new EchoGate();
  /** Levels of what was sent, of the last blocks. */
  readonly #levels: SentLevels;
  readonly #judged: JudgedBlocks;
  /** Sound that does not fill a block yet. */
  #held = new Int16Array(0);
  /** Where the next block lies, in samples of the call. */
  #at = 0;
  /** The echo's delay in samples; null = not found. */
  #delay: number | null = null;
  /** Whether that holds for what is sent now: where the voice begins again the delay may be another. */
  #isSure = false;
  #wasSuspicious = false;
  readonly #trust = new Trust();
  #found: FoundDelay = { samples: 0, certainty: 0 };
  #blocksToLook = SEARCHING_BLOCKS;
  /** What was heard in the last blocks: the finder gets it late. */
  readonly #late: Float64Array[];
  #heardBefore = 0;
  readonly #reference: Float64Array;
  readonly #now: Float64Array;

  /** @param rateHz 8000 or 16000, of what is sent and of what comes back */
  constructor(rateHz: number) {
    this.#rateHz = rateHz;
    this.#block = rateHz / BLOCKS_PER_S;
    this.#sent = new SentSound((KEPT_MS * rateHz) / 1000);
    this.#finder = new DelayFinder(rateHz);
    this.#filter = new AdaptiveFilter({ blockSamples: this.#block, partitions: PARTITIONS, rateHz });
    this.#levels = new SentLevels(Math.ceil((DELAY_MAX_MS * BLOCKS_PER_S) / 1000) + PARTITIONS);
    this.#judged = new JudgedBlocks();
    this.#late = Array.from({ length: EARLY_BLOCKS }, () => new Float64Array(this.#block));
    this.#reference = new Float64Array(2 * this.#block);
    this.#now = new Float64Array(this.#block);
  }

  /** The delay of the echo, in ms; null = none was found. */
  get delayMs(): number | null {
    return this.#delay === null ? null : (this.#delay * 1000) / this.#rateHz;
  }

  /** These samples begin to sound at the caller at `atMs` of the call; null = right behind those sent before. */
  send(samples: Int16Array, atMs: number | null): void {
    if (atMs !== null) this.#doubt();
    this.#sent.place(samples, atMs === null ? this.#sent.end : this.#samplesOf(atMs));
  }

  /** The last `ms` of what was sent are not heard, but for their beginning. */
  takeBack(ms: number): void {
    this.#sent.cut(this.#sent.end - this.#samplesOf(Math.max(ms - LATE_STOP_MS, 0)));
  }

  /**
   * Takes the next samples, which begin at `atMs` of the call, and returns those that are ready, without the echo. Up
   * to 56 ms are held while we speak, nothing while we are silent.
   */
  cancel(samples: Int16Array, atMs: number): Int16Array {
    const at = this.#samplesOf(atMs);
    const jumps = Math.abs(at - this.#at - this.#held.length) > this.#block;
    const before = jumps ? this.flush() : NO_SAMPLES;
    if (jumps) this.#at = at;
    if (!this.#isActive() && this.#held.length === 0) return this.#pass(samples, before);
    const all = joinSamples([this.#held, samples]);
    const out = [before];
    let from = 0;
    for (; from + this.#block <= all.length; from += this.#block) {
      this.#cancelBlock(all.subarray(from, from + this.#block));
      this.#at += this.#block;
    }
    this.#held = all.slice(from);
    out.push(this.#judged.ready(this.#gate.isUndecided ? UNDECIDED_BLOCKS : LOOK_AHEAD_BLOCKS));
    if (!this.#isActive()) out.push(this.flush());
    return joinSamples(out);
  }

  /** Returns what is held. */
  flush(): Int16Array {
    const rest = this.#held;
    this.#held = new Int16Array(0);
    this.#at += rest.length;
    return joinSamples([this.#judged.drain(), rest]);
  }

  #pass(samples: Int16Array, before: Int16Array): Int16Array {
    this.#at += samples.length;
    const last = samples[samples.length - 1];
    if (last !== undefined) {
      this.#gate.noteSilence(levelOf(this.#emphasise(samples)), samples.length / this.#block);
      this.#judged.continueFrom(last);
    }
    return joinSamples([before, samples]);
  }

  #samplesOf(ms: number): number {
    return Math.round((ms * this.#rateHz) / 1000);
  }

  /** Whether anything that was sent may come back now. */
  #isActive(): boolean {
    const reach = this.#samplesOf(DELAY_MAX_MS) + PARTITIONS * this.#block;
    return this.#sent.end > 0 && this.#at < this.#sent.end + reach;
  }

  #cancelBlock(samples: Int16Array): void {
    const heard = this.#emphasise(samples);
    this.#sent.read(this.#at, this.#now);
    const late = this.#late.shift() as Float64Array;
    this.#finder.push(this.#now, late);
    late.set(heard);
    this.#late.push(late);
    const rest = this.#delay !== null && this.#isSure ? this.#filterBlock(heard, this.#delay) : heard;
    const isCaller = this.#gate.judge({
      heardDb: levelOf(heard),
      restDb: levelOf(rest),
      sentDb: this.#sentLevel(),
      echo: this.#echoState(),
      isForetold: this.#trust.isTrue,
      isAlike: this.#found.certainty > CERTAIN / 2 + 1,
    });
    this.#judged.push(rest, isCaller, this.#gate.noiseDb);
    this.#watchDelay();
  }

  #emphasise(samples: Int16Array): Float64Array {
    const emphasised = new Float64Array(samples.length);
    let before = this.#heardBefore;
    for (let i = 0; i < samples.length; i++) {
      const sample = samples[i] as number;
      emphasised[i] = sample - EMPHASIS * before;
      before = sample;
    }
    this.#heardBefore = before;
    return emphasised;
  }

  #filterBlock(heard: Float64Array, delay: number): Float64Array {
    this.#readReference(this.#at - this.#shift(delay) - this.#block, this.#reference);
    this.#filter.filter(this.#reference, heard);
    const { rest, foretold } = this.#filter;
    const taken = energyOf(heard) - energyOf(rest);
    this.#trust.note(taken, energyOf(foretold));
    // A filter that is wrong would put into the sound what is not there.
    return taken > 0 ? rest : heard;
  }

  /** By how much the filter's reference is later than the sound. */
  #shift(delay: number): number {
    const shift = delay - MARGIN_BLOCKS * this.#block;
    return delay >= 0 ? Math.max(shift, 0) : shift;
  }

  #readReference(from: number, to: Float64Array): void {
    const samples = new Float64Array(to.length + 1);
    this.#sent.read(from - 1, samples);
    for (let i = 0; i < to.length; i++) to[i] = (samples[i + 1] as number) - EMPHASIS * (samples[i] as number);
  }

  /** How loud that is of what was sent which may come back in this block. */
  #sentLevel(): number {
    let before = 0;
    let energy = 0;
    for (let i = 0; i < this.#now.length; i++) {
      const sample = this.#now[i] as number;
      energy += (sample - EMPHASIS * before) ** 2;
      before = sample;
    }
    this.#levels.push(toDb(energy / this.#now.length));
    if (this.#delay === null || !this.#isSure) return this.#levels.loudest();
    return this.#levels.loudestFrom(Math.max(Math.floor(this.#delay / this.#block) - EARLIER_BLOCKS, 0));
  }

  #echoState(): GateBlock['echo'] {
    if (this.#delay === null) return 'none';
    if (!this.#isSure) return 'lost';
    return this.#filter.isAdapted ? 'learned' : 'found';
  }

  #watchDelay(): void {
    const { isSuspicious } = this.#gate;
    if (isSuspicious && !this.#wasSuspicious) this.#lookAgain();
    this.#wasSuspicious = isSuspicious;
    if (--this.#blocksToLook <= 0 && this.#gate.hasSound) this.#look();
  }

  /** What was found so far may hold no more. */
  #lookAgain(): void {
    this.#finder.forget();
    this.#found = { samples: 0, certainty: 0 };
    this.#blocksToLook = Math.min(this.#blocksToLook, SEARCHING_BLOCKS);
  }

  #doubt(): void {
    this.#isSure = false;
    this.#finder.forgetHeard();
    this.#gate.onDoubt();
    this.#lookAgain();
  }

  #look(): void {
    const { samples, certainty } = this.#finder.look();
    const before = this.#found;
    this.#found = { samples: samples - EARLY_BLOCKS * this.#block, certainty };
    const agrees = Math.abs(this.#found.samples - before.samples) <= this.#samplesOf(AGREES_MS);
    const isCertain = certainty >= CERTAIN && before.certainty >= CERTAIN && agrees;
    if (isCertain || certainty >= CERTAIN_AT_ONCE) this.#settle(this.#found.samples);
    const isCalm = this.#isSure && this.#filter.isAdapted && !this.#gate.isSuspicious;
    this.#blocksToLook = isCalm ? FOLLOWING_BLOCKS : SEARCHING_BLOCKS;
  }

  #settle(delay: number): void {
    const before = this.#delay;
    const stays = before !== null && Math.abs(delay - before) <= this.#samplesOf(MOVES_MS);
    if (stays && this.#isSure) return;
    if (before === null) this.#filter.reset();
    const settled = stays ? before : delay;
    this.#delay = settled;
    this.#isSure = true;
    const history = new Float64Array((PARTITIONS + 1) * this.#block);
    this.#readReference(this.#at + this.#block - this.#shift(settled) - history.length, history);
    this.#filter.replaceReference(history);
    this.#gate.onMoved();
  }
}

/** Whether the filter takes away what it foretells, or adds it: where the echo has moved. Over the last blocks. */
class Trust {
  #taken = 0;
  #foretold = TINY;

  get isTrue(): boolean {
    return this.#taken > TRUE_SHARE * this.#foretold;
  }

  /** Energies of one block. */
  note(taken: number, foretold: number): void {
    this.#taken += TRUST_SHARE * (taken - this.#taken);
    this.#foretold += TRUST_SHARE * (foretold + TINY - this.#foretold);
  }
}

/** Levels of what was sent, block by block. */
class SentLevels {
  readonly #levels: Float64Array;
  #at = 0;

  constructor(blocks: number) {
    this.#levels = new Float64Array(blocks).fill(NOTHING_DB);
  }

  push(db: number): void {
    this.#at = (this.#at + 1) % this.#levels.length;
    this.#levels[this.#at] = db;
  }

  /** Of all that may come back. */
  loudest(): number {
    return this.#levels.reduce((most, db) => Math.max(most, db), NOTHING_DB);
  }

  /** Of what was sent `blocks` ago and before that, dying away. */
  loudestFrom(blocks: number): number {
    let most = NOTHING_DB;
    for (let ago = blocks; ago < this.#levels.length; ago++) {
      const db = this.#levels[(this.#at + this.#levels.length - ago) % this.#levels.length] as number;
      most = Math.max(most, db - DECAY_DB * Math.max(ago - blocks - STEADY_BLOCKS, 0));
    }
    return most;
  }
}

/** Blocks that wait for the judgement of those behind them, and turn into samples. */
class JudgedBlocks {
  #waiting: { readonly rest: Float64Array; isCaller: boolean; readonly noiseDb: number }[] = [];
  readonly #noise = new Noise();
  #last = 0;
  #gain = 1;

  /** The sample before the next block. */
  continueFrom(sample: number): void {
    this.#last = sample;
    this.#gain = 1;
  }

  push(rest: Float64Array, isCaller: boolean, noiseDb: number): void {
    this.#waiting.push({ rest: rest.slice(), isCaller, noiseDb });
    if (isCaller) for (const block of this.#waiting) block.isCaller = true;
  }

  /** The samples of blocks that have waited for more than `blocks`. */
  ready(blocks: number): Int16Array {
    return this.#take(Math.max(this.#waiting.length - blocks, 0));
  }

  drain(): Int16Array {
    return this.#take(this.#waiting.length);
  }

  #take(blocks: number): Int16Array {
    return joinSamples(this.#waiting.splice(0, blocks).map((block) => this.#soften(block)));
  }

  /** Hidden in noise like that of the line where it is not the caller, and back in the balance of frequencies. */
  #soften({
    rest,
    isCaller,
    noiseDb,
  }: {
    readonly rest: Float64Array;
    isCaller: boolean;
    readonly noiseDb: number;
  }): Int16Array {
    const gain = isCaller ? 1 : 10 ** (Math.min(noiseDb - HIDDEN_DB - levelOf(rest), 0) / 20);
    const noise = 10 ** ((noiseDb - WHITE_DB) / 20);
    const samples = new Int16Array(rest.length);
    for (let i = 0; i < rest.length; i++) {
      const share = (i + 1) / rest.length;
      const now = this.#gain + share * (gain - this.#gain);
      const hidden = isCaller ? 0 : noise * this.#noise.next();
      this.#last = now * (rest[i] as number) + hidden + EMPHASIS * this.#last;
      samples[i] = toSample(this.#last);
    }
    this.#gain = gain;
    return samples;
  }
}

/** White noise of mean square 1, the same each time. */
class Noise {
  #state = 1;

  /** The next sample, by a linear congruential generator (D. Knuth, TAOCP 2, section 3.3.4). */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.sqrt(12) * (this.#state / 2 ** 32 - 0.5);
  }
}

function levelOf(samples: Float64Array): number {
  return toDb(energyOf(samples) / samples.length);
}

function toDb(meanSquare: number): number {
  return 10 * Math.log10(meanSquare + 0.01);
}
