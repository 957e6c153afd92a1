/**
 * Who speaks into the phone, and who behind it: by levels alone. How loud the caller is is learned in the call, from
 * speech that had words. Voices far below that are background. Levels are in dB of full scale (0 = the mean square of a
 * square wave at full scale), of 32 ms windows in which there is speech.
 *
 * On 284 prompts of four people, the mean of 12 windows stayed 11 dB below the loudest of its prompt for 9 windows in
 * two of them; a voice 13 dB softer never came nearer, and one 10 dB softer in 3 of 100 windows (decision 81).
 */

/** What a window is beside the speaker's level. */
export interface WindowLevel {
  /** For a third of a second there was nothing as loud as the speaker. */
  readonly isFar: boolean;
  /** For an eighth of a second there was nothing as loud as the speaker. */
  readonly isSoft: boolean;
  /** Others have spoken of late, so that they are probably heard under the caller's words. */
  readonly isAmidOthers: boolean;
}

/** The level of what nobody compares with anything. */
export const AS_LOUD: WindowLevel = { isFar: false, isSoft: false, isAmidOthers: false };

const FULL_SCALE = 32_768;
/** The level of nothing at all. */
const NOTHING_DB = -120;
const LONG_WINDOWS = 12;
const SHORT_WINDOWS = 4;
/** So far below the speaker is somebody else. */
const FAR_DB = 11;
/** Who begins to speak gets louder than this beside what the caller is known for, sooner or later. */
const BEGIN_DB = 9;
/** So far above the one who spoke so far is somebody else, who does not get louder by steps as small as these. */
const RISE_DB = 11;
const STEP_DB = 0.5;
/** So many windows are soft because speech begins. */
const ONSET_WINDOWS = 12;
/** A shout raises what is expected in the same utterance by no more than this over what is known of the speaker. */
const SHOUT_DB = 6;
/** Softer than this, the first who speaks in a call may be a television: 4 dB below the nominal level of calls. */
const UNSURE_DB = -30;
/** So much louder than what was learned is another speaker, who is learned at once. */
const LOUDER_DB = 8;
const LEARN_UP = 0.5;
const LEARN_DOWN = 0.3;
/** Who is silent for so long after speaking waits for an answer. */
const WAITING_WINDOWS = 63;
/** Speech of this much and then a wait, so often in a row, is somebody who has taken the phone over … */
const STRETCH_WINDOWS = 8;
const STRETCHES = 2;
/** … if no softer than this beside the caller. */
const TAKEN_OVER_DB = 20;
/** So much speech of others, of late, is heard under the caller's words as well; and how fast it is forgotten. */
const OTHERS_WINDOWS = 8;
const OTHERS_MAX = 60;
const OTHERS_FORGOTTEN = 0.01;
/** So long without the caller, with so much of the others, and it is not known any more who the caller is. */
const ABSENT_WINDOWS = 1875;
const ABSENT_SPEECH_WINDOWS = 312;

/** The levels of one track. To be told of every window, in order. */
export class LevelGate {
  /** Mean squares of the latest windows; 0 where there was no speech. */
  readonly #recent = new Float64Array(LONG_WINDOWS);
  #at = 0;
  /** Windows of speech without a break, up to {@link LONG_WINDOWS}. */
  #run = 0;
  /** The caller's level; null = it is not known who that is. */
  #callerDb: number | null = null;
  /** The level of the last utterance, of which it is not known yet whether it had words; null = it is. */
  #heardDb: number | null = null;
  /** Whether the caller may be a television that was heard first. */
  #isUnsure = true;
  /** The loudest of the utterance that is running; null = none is. */
  #peakDb: number | null = null;
  /** How loud it was so far, without the latest windows; and how many there were. */
  #soFarDb = NOTHING_DB;
  #spoken = 0;
  #hasRisen = false;
  #silence = 0;
  #sinceNear = 0;
  #farSpeech = 0;
  #stretch = 0;
  #stretchDb = NOTHING_DB;
  #stretches = 0;
  #others = 0;

  /** The caller's level, in dB; null = not known. */
  get callerDb(): number | null {
    return this.#callerDb;
  }

  /** Whether the utterance that is running may be a television: it is soft, and nobody else has spoken so far. */
  get isUnsure(): boolean {
    return this.#isUnsure && (this.#peakDb ?? NOTHING_DB) < UNSURE_DB;
  }

  /** Whether somebody far louder has begun to speak into an utterance that {@link isUnsure}. */
  get hasRisen(): boolean {
    return this.#hasRisen;
  }

  /** As in {@link WindowLevel}. */
  get isAmidOthers(): boolean {
    return this.#others >= OTHERS_WINDOWS;
  }

  /**
   * Takes the next window.
   * @param meanSquare of its samples (16-bit)
   * @param isSpeech whether there is a voice in it
   */
  note(meanSquare: number, isSpeech: boolean): WindowLevel {
    this.#recent[this.#at] = isSpeech ? meanSquare : 0;
    this.#at = (this.#at + 1) % LONG_WINDOWS;
    this.#run = isSpeech ? Math.min(this.#run + 1, LONG_WINDOWS) : 0;
    const longDb = this.#meanDb(this.#peakDb === null ? Math.max(this.#run, SHORT_WINDOWS) : LONG_WINDOWS);
    const shortDb = this.#meanDb(SHORT_WINDOWS);
    const level = this.#compare(longDb, shortDb);
    if (this.#peakDb !== null && isSpeech) this.#follow(longDb, shortDb);
    this.#count(isSpeech, level.isFar, longDb);
    return level;
  }

  /** An utterance of the caller begins with the window that came last. */
  begin(): void {
    this.#peakDb = this.#meanDb(Math.max(this.#run, SHORT_WINDOWS));
    this.#soFarDb = this.#peakDb;
    this.#spoken = 0;
    this.#hasRisen = false;
  }

  /** It is over. Returns its level, in dB. */
  end(): number {
    const peakDb = this.#peakDb ?? NOTHING_DB;
    this.#peakDb = null;
    this.#heardDb = peakDb;
    this.#hasRisen = false;
    return peakDb;
  }

  /** The utterance with the level `db` had words, or had none. */
  learn(db: number, hadWords: boolean): void {
    if (this.#heardDb === db) this.#heardDb = null;
    if (!hadWords) return;
    const callerDb = this.#callerDb;
    if (callerDb === null || db > callerDb + LOUDER_DB) this.#callerDb = db;
    else this.#callerDb = callerDb + (db > callerDb ? LEARN_UP : LEARN_DOWN) * (db - callerDb);
    if (db >= UNSURE_DB) this.#isUnsure = false;
  }

  #follow(longDb: number, shortDb: number): void {
    this.#spoken++;
    const wasSoft = this.#isUnsure && this.#soFarDb < UNSURE_DB && this.#spoken > ONSET_WINDOWS;
    this.#hasRisen = wasSoft && shortDb > this.#soFarDb + RISE_DB;
    this.#peakDb = Math.max(this.#peakDb ?? NOTHING_DB, longDb);
    const step = this.#spoken > ONSET_WINDOWS ? STEP_DB : Number.POSITIVE_INFINITY;
    this.#soFarDb = Math.max(this.#soFarDb, Math.min(longDb, this.#soFarDb + step));
  }

  #compare(longDb: number, shortDb: number): WindowLevel {
    if (this.#peakDb !== null) {
      const leastDb = this.#expectedDb(this.#peakDb) - FAR_DB;
      return this.#levelOf(longDb, shortDb, leastDb);
    }
    const awaitedDb = this.#awaitedDb;
    if (awaitedDb === null) return AS_LOUD;
    return this.#levelOf(longDb, shortDb, awaitedDb - BEGIN_DB);
  }

  #levelOf(longDb: number, shortDb: number, leastDb: number): WindowLevel {
    return { isFar: longDb < leastDb, isSoft: shortDb < leastDb, isAmidOthers: this.isAmidOthers };
  }

  get #awaitedDb(): number | null {
    const [callerDb, heardDb] = [this.#callerDb, this.#heardDb];
    return heardDb !== null && (callerDb === null || heardDb > callerDb + LOUDER_DB) ? heardDb : callerDb;
  }

  #expectedDb(peakDb: number): number {
    const callerDb = this.#isUnsure ? null : this.#callerDb;
    return callerDb === null ? peakDb : Math.min(peakDb, callerDb + SHOUT_DB);
  }

  #count(isSpeech: boolean, isFar: boolean, longDb: number): void {
    if (!isSpeech) {
      this.#silence++;
      if (this.#silence === WAITING_WINDOWS) this.#onWait();
    } else this.#silence = 0;
    if (isSpeech && !isFar) this.#onNear();
    else if (isSpeech) this.#onFar(longDb);
    this.#others = Math.max(this.#others - OTHERS_FORGOTTEN, 0);
    this.#sinceNear++;
    if (this.#sinceNear >= ABSENT_WINDOWS && this.#farSpeech >= ABSENT_SPEECH_WINDOWS) this.#forget();
  }

  #onNear(): void {
    this.#sinceNear = 0;
    this.#farSpeech = 0;
    this.#stretch = 0;
    this.#stretches = 0;
  }

  #onFar(longDb: number): void {
    if (this.#peakDb !== null) return;
    this.#farSpeech++;
    this.#others = Math.min(this.#others + 1, OTHERS_MAX);
    this.#stretchDb = this.#stretch === 0 ? longDb : Math.max(this.#stretchDb, longDb);
    this.#stretch++;
  }

  /** Whoever spoke last waits now. */
  #onWait(): void {
    const callerDb = this.#callerDb;
    if (callerDb === null) return;
    if (this.#stretch === 0) this.#isUnsure = false;
    else if (this.#stretch >= STRETCH_WINDOWS && this.#stretchDb > callerDb - TAKEN_OVER_DB) this.#stretches++;
    this.#stretch = 0;
    if (this.#stretches >= STRETCHES) this.#forget();
  }

  #forget(): void {
    this.#callerDb = null;
    this.#isUnsure = true;
    this.#onNear();
  }

  /** Of the last `windows`. */
  #meanDb(windows: number): number {
    let sum = 0;
    for (let back = 1; back <= windows; back++)
      sum += this.#recent[(this.#at - back + LONG_WINDOWS) % LONG_WINDOWS] ?? 0;
    return sum === 0 ? NOTHING_DB : 10 * Math.log10(sum / windows / FULL_SCALE ** 2);
  }
}
