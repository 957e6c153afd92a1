/** `text` on one line and without control characters, which a terminal would obey: callers choose their names. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}
