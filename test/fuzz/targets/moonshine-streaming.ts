import assert from 'node:assert/strict';
import { ModelFileError } from '../../../engine/models/folder-files.ts';
import { parseStreamingConfig } from '../../../engine/models/moonshine-streaming/config.ts';
import { readTokens, TokenTable } from '../../../engine/models/moonshine-streaming/token-table.ts';
import type { FuzzTarget } from '../fuzz.ts';

const CONFIG = { depth: 6, nheads: 8, head_dim: 40, vocab_size: 32_768, bos_id: 1, eos_id: 2, total_lookahead: 16 };
const TOKENS_MAX = 64;

/** A folder's two small files are refused by an error that says why, or give values within their bounds. */
export const target: FuzzTarget = {
  name: 'moonshine-streaming',
  seeds: [
    Buffer.from(JSON.stringify(CONFIG)),
    Buffer.from('\x05<unk>\x03<s>\x04</s>\x06<0xC3>\x06<0xA9>\x05\xe2\x96\x81ka\x02lo', 'latin1'),
    Buffer.concat([Buffer.from([0x80 + 2, 1]), Buffer.alloc(130, 'a')]),
  ],
  words: ['"vocab_size":', '"depth":', '<0xE2>', '<>', '\xe2\x96\x81', '\xff\xff', 'null', '1e308'],
  run(input) {
    const bytes = Buffer.from(input);
    const config = readOrRefuse(() => parseStreamingConfig(bytes.toString('utf8')));
    if (config !== null) {
      assert.ok(config.startToken < config.vocabularySize && config.endToken < config.vocabularySize);
      assert.ok(Object.values(config).every((value) => value === null || Number.isSafeInteger(value)));
    }
    const tokens = readOrRefuse(() => readTokens(bytes, TOKENS_MAX));
    if (tokens === null) return;
    assert.ok(tokens.length > 0 && tokens.length <= TOKENS_MAX);
    const table = new TokenTable(tokens);
    const all = tokens.map((_, token) => token);
    assert.equal(table.textOf(all), table.textOf(all).trim());
    for (const token of table.encode(bytes.toString('latin1', 0, 40))) assert.ok(token < tokens.length);
  },
};

function readOrRefuse<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    assert.ok(error instanceof ModelFileError, String(error));
    assert.ok(error.message.length < 300);
    return null;
  }
}
