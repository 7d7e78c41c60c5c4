/** How a block ended. */
export type Signal = 'done' | 'break' | 'continue' | 'return';
