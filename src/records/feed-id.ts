/** The parts of an event's id in the feed, `<epoch>-<number>`. */
export function splitFeedId(id: string): { readonly epoch: string; readonly number: number } {
  const at = id.lastIndexOf('-');
  return { epoch: id.slice(0, at), number: Number(id.slice(at + 1)) };
}
