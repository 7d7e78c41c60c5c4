/** Takes whole lines. */
export interface LogDestination {
  write(line: string): void;
}
