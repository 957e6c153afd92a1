/** Reads `body` into a buffer of its own; null as soon as it exceeds `maxBytes`. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** The body of a `fetch` response as text; null when it exceeds `maxBytes`. */
export async function readBoundedText({ body }: Response, maxBytes: number): Promise<string | null> {
  if (body === null) return '';
  const bytes = await readBounded(body, maxBytes);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
