import { describe, it, expect } from '@jest/globals';
import { loadConfiguration } from './load.js';

describe('loadConfiguration', () => {
  it('runs embedded without any setting', () => {
    const config = loadConfiguration({});
    const port: number = config.get('datapipelines.server.port');
    expect(port).toBe(8080);
    expect(config.mode).toBe('embedded');
  });
});
