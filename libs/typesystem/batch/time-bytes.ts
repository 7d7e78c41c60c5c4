import { civilFromDays } from '../calendar.js';
import type { ByteWriter } from './byte-writer.js';

/** `YYYY-MM-DD` of days within years 0001–9999, room reserved. */
export class DayBytes {
  #days = Number.NaN;
  #year = 0;
  #month = 0;
  #day = 0;

  /** Neighbouring rows often share their day, so the last one is kept. */
  write(out: ByteWriter, days: number): void {
    if (days !== this.#days) {
      const { year, month, day } = civilFromDays(days);
      this.#days = days;
      this.#year = year;
      this.#month = month;
      this.#day = day;
    }
    out.padded(this.#year, 4);
    out.byte(45);
    out.padded(this.#month, 2);
    out.byte(45);
    out.padded(this.#day, 2);
  }
}

/** `HH:MM:SS.ffffff` of microseconds of the day, room reserved. */
export function writeTime(out: ByteWriter, micros: number): void {
  const seconds = Math.floor(micros / 1_000_000);
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  out.padded(hours, 2);
  out.byte(58);
  out.padded(minutes - hours * 60, 2);
  out.byte(58);
  out.padded(seconds - minutes * 60, 2);
  out.byte(46);
  out.padded(micros - seconds * 1_000_000, 6);
}
