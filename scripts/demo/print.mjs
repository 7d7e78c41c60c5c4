/** Colours on a terminal, plain text in a pipe. */
const colour = (code) => (text) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text);

export const bold = colour(1);
export const quiet = colour(2);
export const green = colour(32);

/** Rows of equal keys as an aligned text table. */
export function table(rows) {
  if (rows.length === 0) return quiet('(none)');
  const names = Object.keys(rows[0]);
  const cells = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))];
  const widths = names.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const numeric = names.map((name) => rows.every((row) => /^-?[\d.]*$/.test(String(row[name] ?? ''))));
  const lines = cells.map((line) =>
    line
      .map((cell, column) => (numeric[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column])))
      .join('  ')
      .trimEnd(),
  );
  return [lines[0], widths.map((width) => '─'.repeat(width)).join('  '), ...lines.slice(1)].join('\n');
}
