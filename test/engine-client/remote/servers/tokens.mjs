/** Writes the words of Moonshine as sherpa-onnx reads them: a line `base64 of the bytes`, `id` for each. */
import { writeFileSync } from 'node:fs';
import tokenizer from 'llama-tokenizer-js';

const WORDS = 32_768;

const lines = tokenizer.vocabById.map((word, id) => {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(word)?.[1];
  const bytes = byte === undefined ? Buffer.from(word.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex');
  return `${bytes.toString('base64')} ${id}`;
});
while (lines.length < WORDS) lines.push(`${Buffer.from(`<${lines.length}>`).toString('base64')} ${lines.length}`);
writeFileSync(process.argv[2], `${lines.join('\n')}\n`);
