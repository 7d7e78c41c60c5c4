import { releasedTemplate } from '../content.js';
import { SOURCE } from '../deployment.js';
import { repeat } from '../load/repeat.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const NODES = 1000;
const TEMPLATES = 50;

export const validateDocument: BenchPath = {
  name: 'validate-1000',
  about:
    'validating a document of 1,000 nodes: 300 staged queries, 300 calculators, 400 queries on tempdb, 50 templates each',
  async measure({ author }, options) {
    for (let index = 0; index < TEMPLATES; index += 1) {
      await releasedTemplate(
        author,
        `bench/validate/source${index}.sql`,
        'POSTGRES',
        `SELECT id, label, ${index} AS part FROM bench_rows <#if wide>WHERE day >= :day</#if> ORDER BY id`,
      );
      await releasedTemplate(
        author,
        `bench/validate/staged${index}.sql`,
        'DUCKDB',
        `WITH own AS (SELECT * FROM t${index}) SELECT own.id, count(*) AS n, :k${index} AS q FROM own JOIN t${index + TEMPLATES} USING (id) GROUP BY ALL`,
      );
    }
    const document = documentOf();
    const times = await repeat(options.runs * 3, async () => {
      const begun = performance.now();
      const answer = await author.call('POST', '/api/v1/pipelines/validate', document);
      const elapsed = performance.now() - begun;
      if (!answer.text.includes('"valid":true')) {
        throw new TypeError(`the document is refused: ${answer.text.slice(0, 2000)}`);
      }
      return elapsed;
    });
    return [
      {
        path: 'validating 1,000 nodes, p50',
        unit: 'ms',
        better: 'lower',
        value: median(times),
        asked: { of: 'value', good: 150, great: 75 },
      },
    ];
  },
};

function documentOf(): object {
  const nodes: object[] = [];
  for (let index = 0; index < 300; index += 1) {
    nodes.push({
      id: `s${index}`,
      type: 'DQL',
      source: SOURCE,
      template: { id: `bench/validate/source${index % TEMPLATES}.sql`, version: 1 },
      output: { target: 'tempdb', table: `t${index}` },
    });
  }
  for (let index = 0; index < 300; index += 1) {
    nodes.push({
      id: `c${index}`,
      type: 'CALCULATOR',
      kind: 'period_start',
      inputs: { date: index < TEMPLATES ? '$day' : `$k${index - TEMPLATES}`, unit: 'month' },
      context_key: `k${index}`,
      depends_on: index < TEMPLATES ? [] : [`c${index - TEMPLATES}`],
    });
  }
  for (let index = 0; nodes.length < NODES; index += 1) {
    const template = index % TEMPLATES;
    nodes.push({
      id: `d${index}`,
      type: 'DQL',
      source: 'tempdb',
      template: { id: `bench/validate/staged${template}.sql`, version: 1 },
      depends_on: [`s${template}`, `s${template + TEMPLATES}`, `c${template}`, ...(index > 0 ? [`d${index - 1}`] : [])],
      output: { target: 'tempdb', table: `o${index}` },
    });
  }
  const parameters = { day: { type: 'DATE', required: true }, wide: { type: 'BOOLEAN' } };
  return { name: 'bench/validate/run', display_name: 'x', description: '', parameters, nodes };
}
