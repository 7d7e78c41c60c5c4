import { cpus, loadavg, totalmem } from 'node:os';
import type { Judged } from './measurement.js';
import type { Thresholds } from './statistics.js';

export interface Machine {
  date: string;
  processors: string;
  memoryGb: number;
  node: string;
  /** Load average of the last minute, before the first measurement. */
  load: number;
  postgres: string;
  transient: string;
}

export function machine(stores: { postgres: string; transient: string }): Machine {
  const all = cpus();
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    processors: `${all.length} × ${all[0]?.model.trim() ?? 'unknown'}`,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    load: loadavg()[0] ?? 0,
    ...stores,
  };
}

/** The table as Markdown: readable in a terminal, and as it stands in the documentation. */
export function markdown(rows: readonly Judged[]): string {
  const cells = rows.map((row) => [
    row.path,
    quantity(row.value, row.unit),
    row.limit ? `${quantity(row.limit.value, row.unit)} ${row.limit.what}` : '–',
    row.ratio === undefined ? '–' : row.ratio.toFixed(2),
    asked(row),
    row.verdict ?? '–',
    row.note ?? '',
  ]);
  const table = [['path', 'value', 'limit', 'ratio', 'good · great', 'verdict', 'note'], ...cells];
  const widths = table[0]!.map((_, column) => Math.max(3, ...table.map((line) => line[column]!.length)));
  const lines = table.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`);
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return lines.join('\n');
}

export function heading({ date, processors, memoryGb, node, load, postgres, transient }: Machine): string {
  return `${date} UTC · ${processors}, ${memoryGb} GB · Node ${node} · ${postgres} · ${transient} · load average before: ${load.toFixed(2)}`;
}

function asked({ asked, better, unit }: Judged): string {
  if (!asked) return '–';
  const sign = asked.of === 'ratio' || better === 'higher' ? '≥' : '≤';
  const text = (value: number): string => `${sign} ${asked.of === 'ratio' ? value : quantity(value, unit)}`;
  return thresholds(asked).map(text).join(' · ');
}

function thresholds({ good, great }: Thresholds): number[] {
  return great === undefined ? [good] : [good, great];
}

function quantity(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`;
}
