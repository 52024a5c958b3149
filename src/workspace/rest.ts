/** Lets other tasks of this isolate run. Long synchronous work must call it. */
export function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

const GARBAGE_ARRAYS = 128
const GARBAGE_LENGTH = 1024

/**
 * Makes the garbage collector look at new objects. Bytes from storage are outside its heap, where it lets about 64 MiB
 * collect first; only their small handles are inside. An allocation of one megabyte fills the space for new objects and
 * starts a collection. To be called for about every megabyte that is read and not kept.
 */
export function wakeCollector(): void {
  Array.from({ length: GARBAGE_ARRAYS }, () => new Array<number>(GARBAGE_LENGTH).fill(0))
}
