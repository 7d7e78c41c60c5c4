import { stringify } from 'lossless-json';

/** Words that stand for a kind of value in an expectation. */
const KINDS = {
  $uuid: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value)),
  $moment: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
  $hash: (value) => /^[0-9a-f]{64}$/.test(String(value)),
  $text: (value) => typeof value === 'string' && value !== '',
  $number: (value) => typeof value === 'number' || value?.isLosslessNumber === true,
  $object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  $any: (value) => value !== undefined,
  $absent: (value) => value === undefined,
};

/**
 * Objects are compared by the members named; arrays, texts and numbers wholly, numbers by their digits. `{"$some": x}`
 * holds of a list that has an element like `x`. What differs is added to the defects.
 */
export function compare(found, wanted, path, defects) {
  const kind = typeof wanted === 'string' ? KINDS[wanted] : undefined;
  const pattern = typeof wanted === 'string' && wanted.startsWith('$matches:') ? wanted.slice(9) : undefined;
  if (kind || pattern !== undefined) {
    const holds = kind ? kind(found) : new RegExp(pattern, 's').test(String(found));
    if (!holds) defects.push(`${path}: expected ${wanted}, found ${shown(found)}`);
    return;
  }
  const isObject = typeof wanted === 'object' && wanted !== null && !wanted.isLosslessNumber;
  if (!isObject) {
    if (digits(found) !== digits(wanted)) defects.push(`${path}: expected ${shown(wanted)}, found ${shown(found)}`);
    return;
  }
  if ('$some' in wanted) {
    const holds = Array.isArray(found) && found.some((each) => differences(each, wanted.$some, path).length === 0);
    if (!holds) defects.push(`${path}: expected one like ${shown(wanted.$some)}, found ${shown(found)}`);
    return;
  }
  if (Array.isArray(wanted) && (!Array.isArray(found) || found.length !== wanted.length)) {
    defects.push(`${path}: expected a list of ${wanted.length}, found ${shown(found)}`);
    return;
  }
  for (const [name, each] of Object.entries(wanted)) compare(found?.[name], each, `${path}.${name}`, defects);
}

function differences(found, wanted, path) {
  const defects = [];
  compare(found, wanted, path, defects);
  return defects;
}

const digits = (value) => (typeof value === 'string' ? `"${value}"` : String(value));
const shown = (value) => (value === undefined ? 'nothing' : (stringify(value) ?? 'nothing').slice(0, 300));
