import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseTemplate, renderSql, renderText, type ContextValue } from '#libs/ftl';
import { freemarker, freemarkerRenders } from '../limits/freemarker.js';
import { repeat } from '../load/repeat.js';
import type { Measurement } from '../measurement.js';
import { median } from '../statistics.js';
import type { BenchPath } from './bench-path.js';

const TEMPLATE = join(import.meta.dirname, '..', 'limits', 'orders.ftl');
const NOW = '2026-08-05T14:30:00Z';

const parameter = (type: ContextValue['type']['type'], value: ContextValue['value']): ContextValue => {
  return { type: { type }, value, origin: 'parameter' };
};

/** The same values the other engine gets. */
const CONTEXT = new Map<string, ContextValue>([
  ['region', parameter('STRING', 'EMEA')],
  ['status', parameter('STRING', 'open')],
  ['limit', parameter('INTEGER', 100)],
  ['since', parameter('DATE', '2026-01-01')],
  ['by_day', parameter('BOOLEAN', true)],
]);

function renders(seconds: number, render: () => { ok: boolean }): number {
  const started = performance.now();
  const until = started + seconds * 1000;
  let count = 0;
  while (performance.now() < until) {
    for (let i = 0; i < 20; i++)
      if (!render().ok) throw new TypeError('The template of the benchmark does not render.');
    count += 20;
  }
  return (count / (performance.now() - started)) * 1000;
}

export const ftlRender: BenchPath = {
  name: 'ftl-render',
  about: 'warm render of a 2 KB template, every value bound, against Apache FreeMarker on a warm JVM (skipped without)',
  async measure(_deployment, options) {
    const engine = freemarker();
    if ('missing' in engine) {
      process.stderr.write(`ftl-render is skipped: ${engine.missing}.\n`);
      return [];
    }
    const parsed = parseTemplate(readFileSync(TEMPLATE, 'utf8'));
    if (!parsed.ok) throw new TypeError('The template of the benchmark does not parse.');
    const { template } = parsed;
    const input = { dialect: 'POSTGRES' as const, now: NOW, context: CONTEXT };
    const seconds = options.quick ? 1 : 2;
    const turns = await repeat(options.runs, async () => ({
      bound: renders(seconds, () => renderSql(template, input)),
      text: renders(seconds, () => renderText(template, input)),
      reference: await freemarkerRenders(engine.java, TEMPLATE, seconds),
    }));
    const limit = { what: 'Apache FreeMarker, warm JVM', value: median(turns.map(({ reference }) => reference)) };
    const row = (path: string, value: number): Measurement => {
      return { path, unit: 'renders/s', better: 'higher', value, limit, asked: { of: 'ratio', good: 0.3, great: 1 } };
    };
    return [
      row('FTL render, 2 KB template, values bound', median(turns.map(({ bound }) => bound))),
      row('FTL render, the same as text (preview)', median(turns.map(({ text }) => text))),
    ];
  },
};
