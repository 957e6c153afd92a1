import assert from 'node:assert/strict';
import { type Bridge, BridgeError, formatBridge, isModelFile, parseBridge } from '../../../engine/models/bridge.ts';
import type { FuzzTarget } from '../fuzz.ts';

const BRIDGE: Bridge = {
  format: 1,
  family: 'kokoro',
  name: 'kokoro',
  version: '1.0',
  languages: ['en-US', 'en-GB'],
  licence: 'Apache-2.0',
  files: { 'model.onnx': '6'.repeat(64), 'voices/af_heart.bin': 'd'.repeat(64) },
};

/** A `bridge.json` is refused, or names only files inside of its folder and reads the same when written again. */
export const target: FuzzTarget = {
  name: 'bridge',
  seeds: [Buffer.from(formatBridge(BRIDGE)), Buffer.from('{"files":{"../a":"b"}}'), Buffer.from('[]')],
  run(input) {
    let bridge: Bridge;
    try {
      bridge = parseBridge(Buffer.from(input).toString('utf8'));
    } catch (error) {
      assert.ok(error instanceof BridgeError, String(error));
      assert.ok(error.message.length < 400);
      return;
    }
    assert.ok(Object.keys(bridge.files).every(isModelFile));
    assert.deepEqual(parseBridge(formatBridge(bridge)), bridge);
  },
};
