import { Injectable } from '@nestjs/common';
import { CheckHistory, checkKey, type CheckRef, type PastCheckRun } from '#libs/checks';
import { isJsonObject, type JsonObject, type KeysetListing } from '#libs/kernel';
import { Batch } from '../engine/batch.js';
import { Actors } from '../identity/actor.js';
import { pagesOfParents } from '../schema/page-of-parent.js';
import type { CheckRunType, CheckType } from './check.types.js';

const NEWEST = { first: 1 };

/** Makes checks of a version's document and their runs of the history. */
@Injectable()
export class CheckNodes {
  /** Pages of runs of many checks at once, by `checkParent`. */
  readonly runPages;
  readonly runCounts: Batch<CheckRef, number>;

  constructor(
    private readonly actors: Actors,
    history: CheckHistory,
  ) {
    this.runPages = pagesOfParents<undefined, KeysetListing<PastCheckRun>>((principal, parents, page) =>
      history.pages(principal, parents.map(checkOfParent), page),
    );
    this.runCounts = new Batch((principal, checks) => history.counts(principal, checks), checkKey);
  }

  /** The checks of a stored document, in its order. */
  checksOf(version: { pipelineId: string; version: number }, document: JsonObject): CheckType[] {
    const checks = document['checks'];
    if (!Array.isArray(checks)) return [];
    return checks.filter(isJsonObject).map(({ id, name, expected }) => {
      const ref = { ...version, checkId: String(id) };
      return {
        ref,
        checkId: ref.checkId,
        name: String(name),
        expected: expected ?? null,
        latestRun: async (_args, context) => {
          const key = { parent: checkKey(ref), page: NEWEST, filter: undefined };
          const [newest] = (await context.load(this.runPages, key))?.items ?? [];
          return newest ? this.run(newest) : null;
        },
      };
    });
  }

  run(run: Omit<PastCheckRun, 'cursor'>): CheckRunType {
    const { id, version, via, parameters, observed, verdict, message } = run;
    return {
      ...{ id, version, via, parameters, observed, verdict, message },
      checkId: run.check_id,
      ranAt: run.ran_at,
      ranBy: this.actors.maybe(run.ran_by),
      correlationId: run.correlation_id,
      durationMs: run.duration_ms,
    };
  }
}

/** The inverse of `checkKey`: neither ids of pipelines nor numbers have an `@` or a `#`. */
function checkOfParent(key: string): CheckRef {
  const at = key.indexOf('@');
  const hash = key.indexOf('#');
  return { pipelineId: key.slice(0, at), version: Number(key.slice(at + 1, hash)), checkId: key.slice(hash + 1) };
}
