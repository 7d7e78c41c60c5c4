import { isPenstockError } from '#libs/kernel';

/** What a lookup found; absent and invisible are `null` alike (03 §12). */
export async function found<T>(lookup: Promise<T>): Promise<T | null> {
  try {
    return await lookup;
  } catch (error) {
    if (isPenstockError(error) && error.status === 404) return null;
    throw error;
  }
}
