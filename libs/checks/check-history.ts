import { Injectable } from '@nestjs/common';
import { authorise } from '#libs/identity';
import { KeysetOrder, keysetPages, type KeysetListing, type KeysetPage, type Principal } from '#libs/kernel';
import { CheckRunRepository, type CheckRef, type PlacedCheckRun } from './check-run.repository.js';
import { runView, type CheckRunView } from './check.service.js';

/** A run by the id of its check; only the version's document knows the name. */
export type PastCheckRun = Omit<CheckRunView, 'name'> & {
  /** Its place among the runs of its check, for `after` and `before`. */
  cursor: string;
};

/** Key of a check in maps. */
export function checkKey({ pipelineId, version, checkId }: CheckRef): string {
  return `${pipelineId}@${version}#${checkId}`;
}

/** Past runs of many checks at once: one statement each, absent and foreign ones left out. */
@Injectable()
export class CheckHistory {
  constructor(private readonly runs: CheckRunRepository) {}

  /** A page of each check's runs, newest first, by `checkKey`; `after` and `before` are their cursors. */
  async pages(
    principal: Principal,
    checks: readonly CheckRef[],
    page: KeysetPage,
  ): Promise<Map<string, KeysetListing<PastCheckRun>>> {
    const { id } = authorise(principal, 'pipeline.read');
    const rows = await this.runs.pages(id, checks, page);
    const keyOf = ({ asked }: PlacedCheckRun): string => checkKey(checks[asked - 1] as CheckRef);
    return new Map(
      [...keysetPages(rows, keyOf, page)].map(([key, { items, ...more }]) => [
        key,
        { items: items.map(past), ...more },
      ]),
    );
  }

  /** How many runs each has, by `checkKey`. */
  async counts(principal: Principal, checks: readonly CheckRef[]): Promise<Map<string, number>> {
    const { id } = authorise(principal, 'pipeline.read');
    const rows = await this.runs.counts(id, checks);
    return new Map(rows.map(({ asked, count }) => [checkKey(checks[asked - 1] as CheckRef), count]));
  }
}

function past({ asked: _asked, ...row }: PlacedCheckRun): PastCheckRun {
  const { name: _name, ...run } = runView(row, '');
  return { ...run, cursor: KeysetOrder.place(row.ran_at, row.id) };
}
