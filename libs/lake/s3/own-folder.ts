import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { isJsonObject, readJson, writeJson } from '#libs/kernel';

/** Who a folder belongs to; nothing of the copies is called like it. */
const OWNER = '.owner';
const OTHERS = '.process-';
const SIGN_OF_LIFE_MS = 60_000;
/** An owner that gave no sign for this long is gone, wherever it ran. */
const GONE_MS = 600_000;

/**
 * A folder for this process alone: the given one, or one inside it when another process has that. Two that shared one
 * would count its bytes twice and remove what the other reads. The process holds it until it ends; folders of processes
 * that are gone are taken over, with what is in them, or removed.
 */
export async function ownFolder(folder: string): Promise<string> {
  for (let number = 0; ; number += 1) {
    const candidate = number === 0 ? folder : join(folder, `${OTHERS}${number}`);
    if (!(await claimed(candidate))) continue;
    setInterval(() => void signOfLife(candidate), SIGN_OF_LIFE_MS).unref();
    await removeLeft(folder, candidate);
    return candidate;
  }
}

/** Whether an entry of such a folder is none of its copies. */
export function isOwnership(name: string): boolean {
  return name.startsWith(OWNER) || name.startsWith(OTHERS);
}

/** A link is made or is there: of two that come at once, one makes it. */
async function claimed(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const owner = join(folder, OWNER);
  const mine = join(folder, `${OWNER}-${randomUUID()}`);
  await writeFile(mine, writeJson({ host: hostname(), pid: String(process.pid), claim: randomUUID() }));
  try {
    const gone = await goneOwner(owner);
    if (gone !== undefined) await removeOwner(owner, gone, mine);
    return await linked(mine, owner);
  } finally {
    await rm(mine, { force: true });
  }
}

/** False when somebody has made it already. */
async function linked(file: string, as: string): Promise<boolean> {
  return await link(file, as).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

/** What an owner that is gone has left; undefined when there is none, or it is alive. */
async function goneOwner(owner: string): Promise<string | undefined> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(owner, 'utf8'), stat(owner)]);
    return isGone(text, mtimeMs) ? text : undefined;
  } catch (error) {
    ignoreMissing(error);
    return undefined;
  }
}

function isGone(text: string, mtimeMs: number): boolean {
  if (Date.now() - mtimeMs > GONE_MS) return true;
  const said = readJson(text);
  if (!isJsonObject(said) || said['host'] !== hostname()) return false;
  const pid = Number(said['pid']);
  // A namesake from before this process began; whatever is younger another thread of it may hold.
  return pid === process.pid ? mtimeMs < Date.now() - process.uptime() * 1000 : !runs(pid);
}

/** Of all that see it gone one removes it, and only as long as it is that one still: another may have come and gone between. */
async function removeOwner(owner: string, gone: string, mine: string): Promise<void> {
  const turn = `${owner}-${createHash('sha256').update(gone).digest('hex')}`;
  if (!(await linked(mine, turn))) return;
  try {
    if ((await goneOwner(owner)) === gone) await rm(owner, { force: true });
  } finally {
    await rm(turn, { force: true });
  }
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function signOfLife(folder: string): Promise<void> {
  const now = new Date();
  // Somebody may have cleared the folder; then nobody else shares it either.
  await utimes(join(folder, OWNER), now, now).catch(ignoreMissing);
}

/** What processes left that are gone; without their bytes the limit of this one is the limit of all. */
async function removeLeft(folder: string, own: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const other = join(folder, name);
    if (name.startsWith(OTHERS) && other !== own && (await claimed(other)))
      await rm(other, { recursive: true, force: true });
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
