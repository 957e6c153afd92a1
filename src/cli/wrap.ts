/** Columns of a terminal that lines are kept within. */
export const COLUMNS = 80;

/** Words over as many lines as they need, each behind `indent`. A word that is too long has a line of its own. */
export function wrap(text: string, indent = ''): string[] {
  const lines: string[] = [];
  let line = indent;
  for (const word of text.split(' ')) {
    const isFull = line !== indent && line.length + 1 + word.length > COLUMNS;
    if (isFull) lines.push(line);
    line = isFull || line === indent ? `${indent}${word}` : `${line} ${word}`;
  }
  return [...lines, line];
}
