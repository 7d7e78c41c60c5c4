import { describe, expect, it } from '@jest/globals';
import { refKey, type PinnedTemplate, type TemplateImport } from './pinned-template.js';
import { judgeImports } from './template-imports.js';

const SELF = 'a/self.sql@1';
const ref = (name: string): TemplateImport => ({ id: name, version: 1, alias: name.replace('/', '_') });

function library(name: string, imports: readonly TemplateImport[] = []): PinnedTemplate {
  return {
    templateId: name,
    name,
    version: 1,
    status: 'RELEASED',
    dialect: 'POSTGRES',
    isLibrary: true,
    bodyHash: name,
    body: '<#macro m>1</#macro>',
    imports,
  };
}

/** Twenty libraries that import the others, each a tenth of them; `leaves` others. */
function wide(leaves: number): { imports: TemplateImport[]; loaded: Map<string, PinnedTemplate> } {
  const names = Array.from({ length: leaves }, (_, at) => `l/leaf${at}`);
  const roots = Array.from({ length: 20 }, (_, at) =>
    library(`l/root${at}`, names.filter((_name, place) => place % 20 === at).map(ref)),
  );
  const all = [...roots, ...names.map((name) => library(name))];
  return {
    imports: roots.map(({ name }) => ref(name)),
    loaded: new Map(all.map((each) => [refKey({ id: each.name, version: 1 }), each])),
  };
}

describe('how many libraries one template reaches (contract 05 §6)', () => {
  it('may be 200, and one more is refused with the reason and the bound', () => {
    const most = wide(180);
    expect(judgeImports(SELF, most.imports, most.loaded)).toEqual([]);
    const over = wide(181);
    expect(judgeImports(SELF, over.imports, over.loaded)).toEqual([
      {
        code: 'template.validation.import_depth_exceeded',
        path: 'imports',
        message: expect.stringContaining('201'),
        details: { max: 200, reason: 'closure_too_large' },
      },
    ]);
  });

  it('counts a library once, however many paths lead to it', () => {
    const { imports, loaded } = wide(180);
    const shared = new Map([...loaded].map(([key, each]) => [key, each]));
    const last = ref('l/leaf0');
    for (const { id } of imports) {
      const root = shared.get(`${id}@1`)!;
      if (!root.imports.some((each) => each.id === last.id)) {
        shared.set(`${id}@1`, { ...root, imports: [...root.imports, last] });
      }
    }
    expect(judgeImports(SELF, imports, shared)).toEqual([]);
  });
});
