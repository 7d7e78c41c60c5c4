import type { CatalogueEntry } from './entry.js';

/** Playbooks and the tasks made from them (contract 08 §1, §11). */
export const playbookCodes = {
  'playbook.not_found': {
    status: 404,
    title: 'There is no such task that you can see.',
    fix: 'Check the id that "DP-Task-Id" sends, or leave the header out to work without a task.',
  },
} satisfies Record<string, CatalogueEntry>;
