/** What the checks of `trunkline doctor` say. */

/** One line of the report. Unless it is `ok`, `detail` says what helps. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}
