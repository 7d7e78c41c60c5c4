import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/kernel';
import type { Membership, WorkspaceRecord } from '../access/membership.repository.js';
import { IdentitySettings } from '../identity-settings.js';
import type { ApiKeyCredential } from '../keys/api-key.repository.js';
import type { SessionRecord } from '../sessions/session.repository.js';
import type { UserRecord } from '../users/user.repository.js';
import { LivenessMap } from './liveness-map.js';

/** What an invalidation names. The id of a session is the hex SHA-256 of its `sid`; of a membership, the user's id. */
export type LivenessKind = 'user' | 'session' | 'api_key' | 'membership' | 'workspace';

/** Everything the request pipeline asks on every request, per instance (contract 04 §5). Only the rows decide. */
@Injectable()
export class LivenessCache {
  readonly users: LivenessMap<UserRecord>;
  readonly sessions: LivenessMap<SessionRecord>;
  readonly keys: LivenessMap<ApiKeyCredential>;
  readonly memberships: LivenessMap<readonly Membership[]>;
  readonly workspaces: LivenessMap<WorkspaceRecord>;
  /** SHA-256 of the last key that proved right, by key id. */
  readonly provenKeys: LivenessMap<Buffer>;

  constructor(settings: IdentitySettings, clock: Clock) {
    const map = <V>() => new LivenessMap<V>(settings.cacheTtlSeconds * 1000, () => clock.now().getTime());
    this.users = map();
    this.sessions = map();
    this.keys = map();
    this.memberships = map();
    this.workspaces = map();
    this.provenKeys = map();
  }

  drop(kind: LivenessKind, id: string): void {
    switch (kind) {
      case 'user':
        return this.users.invalidate(id);
      case 'session':
        return this.sessions.invalidate(id);
      case 'api_key':
        this.provenKeys.invalidate(id);
        return this.keys.invalidate(id);
      case 'membership':
        return this.memberships.invalidate(id);
      case 'workspace':
        // Memberships carry the workspace's name and activity; a workspace changes rarely enough to drop them all.
        this.memberships.clear();
        return this.workspaces.invalidate(id);
    }
  }

  clear(): void {
    for (const map of [this.users, this.sessions, this.keys, this.memberships, this.workspaces, this.provenKeys]) {
      map.clear();
    }
  }
}
