import { expect, it } from 'vitest';
import { findDescriptorProblem, parseDescriptorLimit } from '../../../src/foundation/machine/descriptor-limit.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             63432                63432                processes
Max open files            256                  1048576              files
Max locked memory         8388608              8388608              bytes
`;

it('reads the limit of open files, where there is one', () => {
  expect(parseDescriptorLimit(LIMITS)).toBe(256);
  expect(parseDescriptorLimit(LIMITS.replace('256 ', 'unlimited'))).toBe(null);
  expect(parseDescriptorLimit('')).toBe(null);
});

it('says what came, what is needed, and how to have it', () => {
  expect(findDescriptorProblem(256)).toMatch(/open files is 256 .* needs 512 .*ulimit -n 4096.*LimitNOFILE/);
  expect([findDescriptorProblem(512), findDescriptorProblem(null)]).toEqual([null, null]);
});
