/** Resolves in the next turn of the event loop, so that long work made only of promises lets other work run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
