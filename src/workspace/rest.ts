/** Lets everything else that waits in this isolate have its turn. Long work that waits for nothing must ask for it. */
export function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

const GARBAGE_ARRAYS = 128
const GARBAGE_LENGTH = 1024

/**
 * Has the garbage collector look at what is new. Bytes out of storage lie outside its heap, where it lets some 64 MiB of
 * them gather first; their small handles lie inside, and a megabyte that fills up the room for new things is what makes
 * it look. To be called for every megabyte or so that is read and not kept.
 */
export function wakeCollector(): void {
  Array.from({ length: GARBAGE_ARRAYS }, () => new Array<number>(GARBAGE_LENGTH).fill(0))
}
