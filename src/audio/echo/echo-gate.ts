/**
 * Whether the caller speaks while we do, or only our echo comes back: by levels. How loud the echo is beside what was
 * sent, and how much of it the filter leaves, is learned while nobody else speaks; the caller is what is surely louder.
 * Levels are in dB of the mean square of a sample.
 */

/** What one block has. */
export interface GateBlock {
  readonly heardDb: number;
  /** What the filter left of it; the same as heard when there is no filter yet. */
  readonly restDb: number;
  /** The loudest that was sent and may come back in this block. */
  readonly sentDb: number;
  /**
   * `none` = no echo was found so far; `lost` = its delay may have changed; `found` = it is known; `learned` = and the
   * filter foretells the echo.
   */
  readonly echo: 'none' | 'lost' | 'found' | 'learned';
  /** The filter still foretells the echo: what is left lacks it. */
  readonly isForetold: boolean;
  /** Something that was sent is found again in what was heard of late. */
  readonly isAlike: boolean;
}

/** The level of nothing at all. */
export const NOTHING_DB = -20;
/** Louder than expected by this is not chance. */
const MARGIN_DB = 6;
/** Louder than the line's noise by this is a sound. */
const SOUND_DB = 9;
/** At first an echo is held for this loud beside what was sent, and never for softer than the second. */
const FIRST_RATIO_DB = 0;
const RATIO_MIN_DB = -38;
/** The line's noise is found among so many blocks: louder than this share of them by so much. */
const NOISE_BLOCKS = 375;
const NOISE_SHARE = 0.03;
const NOISE_SPREAD_DB = 2;
const NOISE_TOP_DB = 90;
/** Blocks with our voice before it counts that nothing came back: an echo may take that long. */
const PATIENCE_BLOCKS = 100;
/** Where no echo was found, the loudest that came back beside what was sent is forgotten by so much a block. */
const FADE_DB = 0.01;
/** What is louder may be the caller, and is believed by so much a block. */
const RISE_DB = 0.1;
const PEAK_BLOCKS = 20;
/** What is learned comes from blocks that are no softer than this beside the loudest, and louder than noise by it. */
const LEARN_RANGE_DB = 15;
/** The loudest is forgotten by so much a block: 10 dB in 4 s. */
const FORGET_DB = 0.02;
/** Of the last blocks so many must be louder than any echo, or leave more than the filter does. */
const LOUD = { of: 6, blocks: 3 } as const;
const SOFT = { of: 36, blocks: 28 } as const;
/** So much sound that is not alike to what was sent is the caller, however soft. */
const UNLIKE = { of: 75, blocks: 45 } as const;
/**
 * The delay of an echo that is so strong, beside what was sent and beside the noise, is found before there is so much
 * of it: 28 blocks were the most in 90 calls.
 */
const STRONG_RATIO_DB = -22;
const STRONG_DB = 15;
const STRONG = { of: 85, blocks: 46 } as const;
/** What is never louder than an echo is heard for so long at most: then the filter has much to learn. */
const CREDIT_BLOCKS = 90;
/** Blocks in a row that are compared to find the delay, and how many of them must have a sound. */
const SOUND = { of: 38, blocks: 10 } as const;
/** Louder than the noise by this may be an echo in it. */
const TRACE_DB = 4;
/** The caller's pauses between sounds, in blocks. */
const HANGOVER_BLOCKS = 30;

export class EchoGate {
  /** How loud the echo is beside what was sent, and the rest of it: seldom exceeded. */
  #echoRatioDb = FIRST_RATIO_DB;
  #restRatioDb = FIRST_RATIO_DB;
  readonly #noise = new NoiseLevel();
  #noiseDb = 0;
  /** Levels have gaps between words, where what was sent is held for as loud as before. */
  readonly #heardPeak = new Peak(PEAK_BLOCKS);
  readonly #restPeak = new Peak(PEAK_BLOCKS);
  #mostDb = RATIO_MIN_DB;
  #loudestDb = 0;
  #patience = PATIENCE_BLOCKS;
  readonly #loud = new Recent(LOUD.of);
  readonly #soft = new Recent(SOFT.of);
  readonly #sound = new Recent(SOUND.of);
  readonly #unlike = new Recent(UNLIKE.of);
  readonly #strong = new Recent(STRONG.of);
  #open = 0;
  #isUndecided = false;
  #credit = CREDIT_BLOCKS;

  /** Whether more is left than the filter should leave, so that the delay may have changed. */
  get isSuspicious(): boolean {
    return this.#soft.count > 2;
  }

  /** Whether enough was heard of late that it can be compared with what was sent. */
  get hasSound(): boolean {
    return this.#sound.count >= SOUND.blocks;
  }

  /** Whether there is a sound that may be the caller or an echo that was not found yet. */
  get isUndecided(): boolean {
    return this.#isUndecided && this.#open === 0;
  }

  /** The noise of the line. */
  get noiseDb(): number {
    return this.#noiseDb;
  }

  /** So many blocks, of which this is the level, in which nothing of ours could come back. */
  noteSilence(heardDb: number, blocks: number): void {
    this.#noteNoise(heardDb);
    this.#soft.note(false);
    this.#unlike.note(false);
    this.#loud.note(heardDb > this.#noiseDb + SOUND_DB);
    if (this.#loud.count >= LOUD.blocks) this.#open = HANGOVER_BLOCKS;
    else this.#open = Math.max(this.#open - blocks, 0);
  }

  /** The delay may have changed: only what is heard from now on shows it. */
  onDoubt(): void {
    this.#sound.clear();
  }

  /** The delay has changed: what was suspicious was the echo in its new place. */
  onMoved(): void {
    this.#soft.clear();
    this.#unlike.clear();
    this.#strong.clear();
  }

  /** Whether this block is to be heard: the caller speaks, or nothing of ours can be in it. */
  judge(block: GateBlock): boolean {
    const { heardDb, restDb, sentDb } = block;
    this.#sound.note(heardDb > this.#noiseDb + TRACE_DB);
    if (sentDb <= NOTHING_DB) {
      this.noteSilence(heardDb, 1);
      return true;
    }
    this.#noteNoise(heardDb);
    const isSound = restDb > this.#noiseDb + SOUND_DB && heardDb > sentDb + RATIO_MIN_DB;
    const isLoud = isSound && heardDb > sentDb + this.#echoRatioDb + MARGIN_DB;
    const isSoft = isSound && block.echo === 'learned' && restDb > sentDb + this.#restRatioDb + MARGIN_DB;
    this.#loud.note(isLoud);
    this.#soft.note(isSoft);
    this.#unlike.note(isSound && !block.isAlike && (block.echo !== 'learned' || isSoft));
    const isFalse = block.echo === 'found' && !block.isForetold;
    const isUnknown = block.echo === 'none' || block.echo === 'lost' || isFalse;
    const isStrong = heardDb > this.#noiseDb + STRONG_DB && heardDb > sentDb + STRONG_RATIO_DB;
    this.#strong.note(isUnknown && isStrong);
    this.#isUndecided = isUnknown && this.#unlike.count + this.#strong.count > 0;
    this.#decide(block.isForetold);
    if (this.#open === 0 && !isLoud && (!isSoft || this.#credit === 0)) this.#learn(block);
    return this.#open > 0;
  }

  #decide(isForetold: boolean): void {
    const isLoud =
      this.#loud.count >= LOUD.blocks || this.#unlike.count >= UNLIKE.blocks || this.#strong.count >= STRONG.blocks;
    const isSoft = isForetold && this.#soft.count >= SOFT.blocks && this.#credit > 0;
    const goesOn = this.#open > 0 && (this.#loud.count > 0 || (this.#credit > 0 && this.#soft.count >= 4));
    if (isLoud || isSoft || goesOn) this.#open = HANGOVER_BLOCKS;
    else this.#open = Math.max(this.#open - 1, 0);
    if (this.#loud.count > 0 || this.#open === 0) this.#credit = Math.min(this.#credit + 1, CREDIT_BLOCKS);
    else this.#credit = Math.max(this.#credit - 1, 0);
  }

  /** Only from what is loud: the echo of the rest is in the noise, or in the reverberation of what was louder. */
  #learn({ heardDb, restDb, sentDb, echo }: GateBlock): void {
    this.#loudestDb = Math.max(sentDb, this.#loudestDb - FORGET_DB);
    if (echo === 'lost' || sentDb < this.#loudestDb - LEARN_RANGE_DB || sentDb < this.#noiseDb + LEARN_RANGE_DB) return;
    const echoDb = Math.max(this.#heardPeak.note(heardDb) - sentDb, RATIO_MIN_DB);
    const leftDb = Math.max(this.#restPeak.note(restDb) - sentDb, RATIO_MIN_DB);
    if (echo === 'none') {
      const risenDb = this.#patience > 0 ? echoDb : Math.min(echoDb, this.#mostDb + RISE_DB);
      this.#mostDb = Math.max(this.#mostDb - FADE_DB, risenDb);
      if (this.#patience > 0) this.#patience--;
      else this.#echoRatioDb = this.#restRatioDb = this.#mostDb;
      return;
    }
    this.#echoRatioDb = follow(this.#echoRatioDb, echoDb);
    this.#restRatioDb = follow(this.#restRatioDb, leftDb);
  }

  #noteNoise(heardDb: number): void {
    this.#noiseDb = this.#noise.note(heardDb);
  }
}

/** Follows the upper part of what a level does. */
function follow(value: number, now: number): number {
  return value + (now > value ? 0.25 : 0.005) * (now - value);
}

/** The noise of a line: what of the last 3 s is softest, as words have gaps. */
class NoiseLevel {
  readonly #levels = new Uint8Array(NOISE_BLOCKS);
  readonly #counts = new Uint16Array(NOISE_TOP_DB + 1);
  #noted = 0;

  note(db: number): number {
    const level = Math.round(Math.min(Math.max(db, 0), NOISE_TOP_DB));
    const at = this.#noted % NOISE_BLOCKS;
    if (this.#noted >= NOISE_BLOCKS) this.#count(this.#levels[at] as number, -1);
    this.#levels[at] = level;
    this.#count(level, 1);
    this.#noted++;
    let left = NOISE_SHARE * Math.min(this.#noted, NOISE_BLOCKS);
    let lowest = 0;
    while (left > 0) left -= this.#counts[lowest++] as number;
    return lowest - 1 + NOISE_SPREAD_DB;
  }

  #count(level: number, change: number): void {
    this.#counts[level] = (this.#counts[level] as number) + change;
  }
}

/** The highest of the last levels. */
class Peak {
  readonly #levels: Float64Array;
  #at = 0;

  constructor(blocks: number) {
    this.#levels = new Float64Array(blocks).fill(NOTHING_DB);
  }

  note(db: number): number {
    this.#at = (this.#at + 1) % this.#levels.length;
    this.#levels[this.#at] = db;
    return this.#levels.reduce((most, level) => Math.max(most, level), NOTHING_DB);
  }
}

/** How many of the last blocks were so. */
class Recent {
  readonly #were: Uint8Array;
  #at = 0;
  #count = 0;

  constructor(blocks: number) {
    this.#were = new Uint8Array(blocks);
  }

  get count(): number {
    return this.#count;
  }

  note(is: boolean): void {
    this.#count += Number(is) - (this.#were[this.#at] as number);
    this.#were[this.#at] = Number(is);
    this.#at = (this.#at + 1) % this.#were.length;
  }

  clear(): void {
    this.#were.fill(0);
    this.#count = 0;
    this.#count = 0;
  }
}
