/** Wrong keys and passwords, counted over all gateways of a cluster: here at once, and for the others soon after. */
import type { AttemptCount, BucketKind, SharedAttempts } from '../../cluster/state/shared-attempts.ts';
import type { Clock, Timer } from '../../foundation/clock.ts';
import { dropOldest } from './drop-oldest.ts';

/** How soon the others know. */
const DELAY_MS = 250;
/** Subjects that are told of at once. */
const SUBJECTS_MAX = 500;

/** Where one kind of bucket tells what is taken of it. */
export interface CountSink {
  /** `tokens` were taken; less than nothing = they were given back. */
  taken(subject: string, tokens: number): void;
  /** What was taken here and not told yet does not count; `isOwed` = nor what was told before. */
  forgiven(subject: string, isOwed: boolean): void;
}

interface Kind {
  readonly kind: BucketKind;
  /** Sets what is left of a bucket, if that is less than what is left here. */
  readonly lower: (subject: string, left: number) => void;
  readonly counts: Map<string, number>;
  readonly forgiven: Set<string>;
}

interface CountsOptions {
  readonly clock: Clock;
  readonly shared: Pick<SharedAttempts, 'add' | 'forgive'>;
}

/** Adds up what the buckets of this gateway count. Nothing runs while nobody is wrong. */
export class SharedCounts {
  readonly #options: CountsOptions;
  readonly #kinds: Kind[] = [];
  #timer: Timer | null = null;
  #isTelling = false;

  constructor(options: CountsOptions) {
    this.#options = options;
  }

  /** Shares the buckets of one kind. */
  follow(kind: BucketKind, lower: Kind['lower']): CountSink {
    const counts = new Map<string, number>();
    const forgiven = new Set<string>();
    this.#kinds.push({ kind, lower, counts, forgiven });
    return {
      taken: (subject, tokens) => {
        counts.set(subject, (counts.get(subject) ?? 0) + tokens);
        dropOldest(counts);
        this.#tellSoon();
      },
      forgiven: (subject, isOwed) => {
        counts.delete(subject);
        if (!isOwed) return;
        forgiven.add(subject);
        dropOldest(forgiven);
        this.#tellSoon();
      },
    };
  }

  close(): void {
    this.#timer?.cancel();
  }

  #tellSoon(): void {
    this.#timer ??= this.#options.clock.after(DELAY_MS, () => void this.#tell(), true);
  }

  async #tell(): Promise<void> {
    this.#timer = null;
    if (this.#isTelling) {
      this.#tellSoon();
      return;
    }
    this.#isTelling = true;
    // While the database is away each gateway counts for itself.
    for (const kind of this.#kinds) await this.#tellOf(kind).catch(() => undefined);
    this.#isTelling = false;
    if (this.#kinds.some(({ counts, forgiven }) => counts.size + forgiven.size > 0)) this.#tellSoon();
  }

  async #tellOf({ kind, lower, counts, forgiven }: Kind): Promise<void> {
    const { shared } = this.#options;
    const innocent = takeSome(forgiven);
    if (innocent.length > 0) await shared.forgive(kind.name, innocent);
    const told: AttemptCount[] = [];
    for (const subject of takeSome(counts.keys())) {
      const taken = counts.get(subject) ?? 0;
      counts.delete(subject);
      if (taken !== 0) told.push({ subject, taken });
    }
    if (told.length === 0) return;
    for (const [subject, left] of await shared.add(kind, told)) lower(subject, left - (counts.get(subject) ?? 0));
  }
}

/** Some of them; those of a set are taken out. */
function takeSome(subjects: Set<string> | Iterable<string>): string[] {
  const some: string[] = [];
  for (const subject of subjects) {
    if (some.length >= SUBJECTS_MAX) break;
    some.push(subject);
  }
  if (subjects instanceof Set) for (const subject of some) subjects.delete(subject);
  return some;
}
