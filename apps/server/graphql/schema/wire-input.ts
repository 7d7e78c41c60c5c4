/** An input as the REST body it stands for: the same members under snake_case names, absent ones left out. */
export function wireInput(input: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, value]) => (value === undefined ? [] : [[snakeCase(name), value]])),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
