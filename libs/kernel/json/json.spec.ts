import { describe, it, expect } from '@jest/globals';
import { readJson } from './read.js';
import { writeJson } from './write.js';
describe('x', () => {
  it('y', () => {
    expect(writeJson(readJson('{"a":[1.10,{"b":"\\u00e9"}],"c":null}'))).toBe('{"a":[1.10,{"b":"é"}],"c":null}');
  });
});
