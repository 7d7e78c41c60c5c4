import { Injectable } from '@nestjs/common';
import type { Principal } from '#libs/kernel';
import type { Transaction } from '#libs/persistence';

/** `deactivated`: the account is closed, and may be opened again. `anonymised`: nobody comes back. */
export type DepartureKind = 'deactivated' | 'anonymised';

export interface Departing {
  id: string;
  email: string;
}

/** What another family has to do when somebody goes; a refusal refuses the whole act. */
export type DepartureParticipant = (
  tx: Transaction,
  principal: Principal,
  person: Departing,
  kind: DepartureKind,
) => Promise<void>;

/** Families that hold something of a person register here and take part in the transaction (contract 04 §3). */
@Injectable()
export class Departures {
  readonly #participants: DepartureParticipant[] = [];

  register(participant: DepartureParticipant): void {
    this.#participants.push(participant);
  }

  async run(tx: Transaction, principal: Principal, person: Departing, kind: DepartureKind): Promise<void> {
    for (const participate of this.#participants) await participate(tx, principal, person, kind);
  }
}
