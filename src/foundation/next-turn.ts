/**
 * Resolves when everybody else has had a turn on the event loop: for work that would otherwise go on and on in promises
 * alone.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
