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
const FIRST_RATIO_DB = -8;
const RATIO_MIN_DB = -38;
/** The line's noise before anything was heard of it. */
const FIRST_NOISE_DB = 12;
/** Blocks with our voice before it counts that nothing came back: an echo may take that long. */
const PATIENCE_BLOCKS = 100;
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
/** What is never louder than an echo is heard for so long at most: then the filter has much to learn. */
const CREDIT_BLOCKS = 90;
/** Blocks in a row that are compared to find the delay, and how many of them must have a sound. */
const SOUND = { of: 38, blocks: 18 } as const;
/** The caller's pauses between sounds, in blocks. */
const HANGOVER_BLOCKS = 30;

export class EchoGate {
  /** How loud the echo is beside what was sent, and the rest of it: seldom exceeded. */
  #echoRatioDb = FIRST_RATIO_DB;
  #restRatioDb = FIRST_RATIO_DB;
  #noiseDb = FIRST_NOISE_DB;
  /** Levels have gaps between words, where what was sent is held for as loud as before. */
  readonly #heardPeak = new Peak(PEAK_BLOCKS);
  readonly #restPeak = new Peak(PEAK_BLOCKS);
  #loudestDb = 0;
  #patience = PATIENCE_BLOCKS;
  readonly #loud = new Recent(LOUD.of);
  readonly #soft = new Recent(SOFT.of);
  readonly #sound = new Recent(SOUND.of);
  readonly #unlike = new Recent(UNLIKE.of);
  #open = 0;
  #credit = CREDIT_BLOCKS;

  /** Whether more is left than the filter should leave, so that the delay may have changed. */
  get isSuspicious(): boolean {
    return this.#soft.count > 2;
  }

  /** Whether enough was heard of late that it can be compared with what was sent. */
  get hasSound(): boolean {
    return this.#sound.count >= SOUND.blocks;
  }

  /** The noise of the line. */
  get noiseDb(): number {
    return this.#noiseDb;
  }

  /** A block in which nothing of ours could come back. */
  noteSilence(heardDb: number): void {
    this.#noteNoise(heardDb);
    this.#open = Math.max(this.#open - 1, 0);
  }

  /** The delay has changed: what was suspicious was the echo in its new place. */
  onMoved(): void {
    this.#soft.clear();
    this.#unlike.clear();
  }

  /** Whether this block is to be heard: the caller speaks, or nothing of ours can be in it. */
  judge(block: GateBlock): boolean {
    const { heardDb, restDb, sentDb } = block;
    this.#noteNoise(heardDb);
    this.#sound.note(heardDb > this.#noiseDb + SOUND_DB);
    if (sentDb <= NOTHING_DB) return true;
    const isSound = restDb > this.#noiseDb + SOUND_DB && heardDb > sentDb + RATIO_MIN_DB;
    const isLoud = isSound && heardDb > sentDb + this.#echoRatioDb + MARGIN_DB;
    const isSoft = isSound && block.echo === 'learned' && restDb > sentDb + this.#restRatioDb + MARGIN_DB;
    this.#loud.note(isLoud);
    this.#soft.note(isSoft);
    this.#unlike.note(isSound && !block.isAlike);
    this.#decide();
    if (this.#open === 0 && !isLoud && (!isSoft || this.#credit === 0)) this.#learn(block);
    return this.#open > 0;
  }

  #decide(): void {
    const isLoud = this.#loud.count >= LOUD.blocks || this.#unlike.count >= UNLIKE.blocks;
    const isSoft = this.#soft.count >= SOFT.blocks && this.#credit > 0;
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
    if (this.#patience > 0 && echo === 'none') {
      this.#patience--;
      return;
    }
    const echoDb = follow(this.#echoRatioDb, Math.max(this.#heardPeak.note(heardDb) - sentDb, RATIO_MIN_DB));
    const leftDb = follow(this.#restRatioDb, Math.max(this.#restPeak.note(restDb) - sentDb, RATIO_MIN_DB));
    // Without a known echo what is loud may be the caller: it is no reason to expect a louder echo.
    const mayRise = echo !== 'none';
    this.#echoRatioDb = mayRise ? echoDb : Math.min(echoDb, this.#echoRatioDb);
    this.#restRatioDb = mayRise ? leftDb : Math.min(leftDb, this.#restRatioDb);
  }

  #noteNoise(heardDb: number): void {
    this.#noiseDb += (heardDb < this.#noiseDb ? 0.1 : 0.004) * Math.min(heardDb - this.#noiseDb, 10);
    this.#noiseDb = Math.max(this.#noiseDb, 0);
  }
}

/** Follows the upper part of what a level does. */
function follow(value: number, now: number): number {
  return value + (now > value ? 0.25 : 0.02) * (now - value);
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
  }
}
