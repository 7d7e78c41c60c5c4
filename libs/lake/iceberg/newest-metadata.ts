import { TableProblem } from '../tables/table-scan.js';

/** Packed ones too, as writers name them: `v3.gz.metadata.json`, `00003-….gz.metadata.json`, `….metadata.json.gz`. */
const NUMBERED = /^v?(\d+)(?:-[^/]*)?(?:\.gz)?\.metadata\.json(?:\.gz)?$/;
const METADATA = /\.metadata\.json(?:\.gz)?$/;

/** Of the names in a table's metadata folder: by the number in the name, between two of one number the later in order. */
export function newestMetadata(names: Iterable<string>): string {
  let newest: { name: string; number: number } | undefined;
  for (const name of names) {
    const digits = NUMBERED.exec(name)?.[1];
    if (digits === undefined) continue;
    const number = Number(digits);
    if (!newest || number > newest.number || (number === newest.number && name > newest.name))
      newest = { name, number };
  }
  if (!newest) throw new TableProblem('The folder holds no Iceberg metadata.');
  return newest.name;
}

/** A metadata file is that state for ever. */
export function isPinned(path: string): boolean {
  return METADATA.test(path);
}
