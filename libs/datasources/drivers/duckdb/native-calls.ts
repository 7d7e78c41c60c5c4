/**
 * Admits native engine calls: each holds a thread of the runtime's pool until it returns, so the process shares one gate
 * for all engines (contract 02 §1). The server binds this to the executions' gate.
 */
export abstract class NativeCalls {
  abstract run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}
