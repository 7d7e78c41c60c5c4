import { Injectable } from '@nestjs/common';
import { newId, type ActingWorkspace, type Principal } from '#libs/kernel';
import { Database } from '#libs/persistence';
import { UserRepository } from './user.repository.js';

const EMAIL = 'system@system.invalid';
const PROVIDER = 'system';

/** The server itself: one row that jobs and promoted content are stamped with, and that nobody signs in as (04 §1). */
@Injectable()
export class SystemActor {
  #id: Promise<string> | undefined;

  constructor(
    private readonly db: Database,
    private readonly users: UserRepository,
  ) {}

  /** Id of the row; the first call of a fresh database makes it. */
  id(): Promise<string> {
    const id = (this.#id ??= this.#ensure());
    // A failed attempt is not remembered: the database may be back at the next call.
    id.catch(() => {
      if (this.#id === id) this.#id = undefined;
    });
    return id;
  }

  /**
   * The server acting. It holds every capability, because no credential leads here; give it the workspace it works in.
   */
  async principal(correlationId: string = newId(), workspace?: ActingWorkspace): Promise<Principal> {
    return {
      userId: await this.id(),
      email: EMAIL,
      displayName: 'System',
      method: 'system',
      surface: 'session',
      scopes: [],
      superAdmin: true,
      mustChangePassword: false,
      correlationId,
      ...(workspace ? { workspace: { ...workspace, superAdmin: true } } : {}),
    };
  }

  async #ensure(): Promise<string> {
    const existing = await this.#find();
    if (existing) return existing;
    const made = await this.users.insert(this.db, {
      id: newId(),
      email: EMAIL,
      displayName: 'System',
      provider: PROVIDER,
      subject: PROVIDER,
    });
    const id = made ?? (await this.#find());
    if (id === undefined) throw new TypeError('the row of the system actor can neither be made nor found');
    return id;
  }

  async #find(): Promise<string | undefined> {
    const [row] = await this.db.query<{ id: string }>(
      'SELECT id FROM users WHERE provider = $1 AND provider_subject = $1',
      [PROVIDER],
    );
    return row?.id;
  }
}
