/** `total` operations by `clients` at a time, each client beginning anew when its last one is done. */
export async function soak(clients: number, total: number, operation: () => Promise<unknown>): Promise<void> {
  let left = total;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left-- > 0) await operation();
    }),
  );
}
