import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { parseYaml } from '../../src/foundation/yaml-text.ts';

describe('a YAML file of the operator', () => {
  it.each([
    ['a: 1\n[b, c]: 2\n', 'file.yaml:2:1: got a list as a key, expected a text'],
    ['a:\n  {b: c}: 2\n', 'file.yaml:2:3: got a mapping as a key, expected a text'],
  ])('is refused where a key is a collection, without a warning of the parser', (text, message) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect(() => parseYaml(text, 'file.yaml', z.unknown())).toThrow(message);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
