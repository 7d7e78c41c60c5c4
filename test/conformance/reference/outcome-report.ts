import type { GoldenFile, GoldenRow } from '../ftl/golden-rows.js';
import type { Outcome } from './engines.js';

export interface Judged {
  file: string;
  row: GoldenRow;
  verdict: 'agrees' | 'differs as written' | 'not asked' | 'WRONG';
  /** What a wrong row should say. */
  found: string;
}

export const shown = (outcome: Outcome): string | null => (outcome.ok ? outcome.text : null);

/** Compares a row with what the reference engine of `version` made of it. */
export function judge(file: GoldenFile, row: GoldenRow, outcome: Outcome, version: string): Judged {
  const base = { file: file.name, row, found: JSON.stringify(shown(outcome)) };
  if (row.since !== undefined && older(version, row.since)) return { ...base, verdict: 'not asked' };
  const expected = row.reference === undefined ? (row.printed ?? null) : row.reference;
  if (shown(outcome) !== expected) return { ...base, verdict: 'WRONG' };
  return { ...base, verdict: row.reference === undefined ? 'agrees' : 'differs as written' };
}

function older(version: string, than: string): boolean {
  const [a, b] = [version, than].map((one) => one.split('.').map(Number));
  for (let i = 0; i < 3; i++) if (a![i] !== b![i]) return (a![i] ?? 0) < (b![i] ?? 0);
  return false;
}

export interface RandomRun {
  count: number;
  seed: number;
  bothPrint: number;
  bothFail: number;
  different: readonly string[];
}

/** The document of the latest outcome. */
export function report(version: string, judged: readonly Judged[], random: RandomRun, suite: string): string {
  const files = [...new Set(judged.map(({ file }) => file))];
  const count = (rows: readonly Judged[], verdict: Judged['verdict']): number =>
    rows.filter((one) => one.verdict === verdict).length;
  const lines = files.map((file) => {
    const rows = judged.filter((one) => one.file === file);
    return `| ${file} | ${rows.length} | ${count(rows, 'agrees')} | ${count(rows, 'differs as written')} | ${count(rows, 'not asked')} |`;
  });
  return `# Conformance of the template language

The engine in \`libs/ftl\` is compared with Apache FreeMarker: the same templates, the same data, the settings of the
product. This file is written by the command below; the golden rows are in \`test/conformance/ftl/golden\`.

\`\`\`
node test/conformance/differential.mjs --write      needs Java and libfreemarker-java
\`\`\`

## Latest outcome

Apache FreeMarker ${version}: ${judged.length} golden templates, ${count(judged, 'agrees')} printed or refused alike, ${count(judged, 'differs as written')} different on purpose, ${count(judged, 'not asked')} of constructs newer than that version.

| file | templates | alike | different on purpose | newer |
|---|---|---|---|---|
${lines.join('\n')}

${random.count} random templates (seed ${random.seed}): ${random.bothPrint} printed alike, ${random.bothFail} refused by both, ${random.different.length} different.

## FreeMarker's own suite

${suite}

## Different on purpose

| why | rows | for example | here | FreeMarker |
|---|---|---|---|---|
${deviations(judged).join('\n')}
`;
}

function deviations(judged: readonly Judged[]): string[] {
  const byReason = new Map<string, GoldenRow[]>();
  for (const { row } of judged)
    if (row.why !== undefined) byReason.set(row.why, [...(byReason.get(row.why) ?? []), row]);
  return [...byReason].map(([why, rows]) => {
    const [row] = rows.toSorted((a, b) => a.template.length - b.template.length) as [GoldenRow];
    const here = row.printed === undefined ? 'refused' : code(row.printed);
    const there = row.reference == null ? 'refused' : code(row.reference);
    return `| ${why} | ${rows.length} | ${code(row.template)} | ${here} | ${there} |`;
  });
}

function code(text: string): string {
  const cell = text.replaceAll('\n', '⏎').replaceAll('|', '\\|');
  return cell === '' ? 'nothing' : `\`${cell}\``;
}
