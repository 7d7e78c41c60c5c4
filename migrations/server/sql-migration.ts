import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A migration that is one SQL script. The script's text is what the ledger's checksum covers, so an applied
 * migration is never edited: a correction is a new migration (00 §5). There is no way down.
 */
export abstract class SqlMigration implements MigrationInterface {
  /** The ledger's key; the number decides the order. */
  abstract readonly name: string;
  abstract readonly sql: string;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(this.sql);
  }

  async down(): Promise<void> {
    throw new TypeError(`${this.name} has no way down: write a new migration.`);
  }
}
