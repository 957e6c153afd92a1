/** What the exit codes of every command mean; `EXIT_CONFIG` (78) of config.ts is the fourth. */
export const EXIT_OK = 0;
/** Something that was asked for did not succeed. */
export const EXIT_FAILED = 1;
/** The command line itself is wrong. */
export const EXIT_USAGE = 2;
/** Ctrl-C (128 + SIGINT). */
export const EXIT_INTERRUPTED = 130;
