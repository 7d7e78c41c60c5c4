import { describe, expect, it } from '@jest/globals';
import { angleBrackets } from './suite-adaptation.js';
import { runCase, TIERS } from './suite-tiers.js';

for (const { name, cases, files } of TIERS) {
  if (files) {
    describe(`FreeMarker suite, ${name}: real templates of the reference engine keep their output`, () => {
      it.each([...cases])('%s', (one, how) => {
        const { printed, expected } = runCase(files, one, how);
        if (expected !== null) expect(printed).toBe(expected);
      });
    });
  } else {
    describe(`FreeMarker suite, ${name}: NOT RUN, no folder has its templates`, () => {
      it('says so instead of passing silently', () => {
        process.stderr.write(
          `FreeMarker suite, ${name}: not run. Name a folder with testcases.xml, templates and expected in FREEMARKER_SUITE.\n`,
        );
        expect(cases.size).toBeGreaterThan(15);
      });
    });
  }
}

describe('the adaptation of the suite', () => {
  it('turns tags in square brackets alone, so that indexes and sequences stay what they are', () => {
    expect(angleBrackets('[#assign a = ["x", "]"]][#-- c --]${a[0]}[@m a[1] /][/#if]')).toBe(
      '<#assign a = ["x", "]"]><#-- c -->${a[0]}<@m a[1] /></#if>',
    );
  });
});
