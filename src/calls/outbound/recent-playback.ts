/** What sounded in a call lately, to know an echo by. */
interface Played {
  readonly sound: object;
  readonly text: string;
  readonly fromMs: number;
  /** null = it still sounds. */
  toMs: number | null;
}

/** More sentences than these are forgotten: half a minute of very short ones. */
const KEPT_MAX = 64;

export class RecentPlayback {
  #kept: Played[] = [];

  /** `sound`, which says `text`, begins at `nowMs`. */
  begin(sound: object, text: string, nowMs: number): void {
    if (text.trim() === '') return;
    if (this.#kept.length >= KEPT_MAX) this.#kept.shift();
    this.#kept.push({ sound, text, fromMs: nowMs, toMs: null });
  }

  /** `sound` ended at `nowMs`. */
  end(sound: object, nowMs: number): void {
    const played = this.#kept.find((each) => each.sound === sound);
    if (played !== undefined) played.toMs = nowMs;
  }

  /** Everything was cut off at `nowMs`. */
  endAll(nowMs: number): void {
    for (const played of this.#kept) played.toMs ??= nowMs;
  }

  /** The text of all that sounded at or after `fromMs`, in order; empty when nothing did. */
  since(fromMs: number): string {
    return this.#kept
      .filter(({ toMs }) => toMs === null || toMs >= fromMs)
      .map(({ text }) => text)
      .join(' ');
  }
}
