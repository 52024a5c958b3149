/**
 * Lets other work run: other requests of this isolate, and in a local service those of everybody. Awaiting a promise
 * alone is not enough, because the runtime continues with ready promises first; a chain of calls to the database, to R2
 * or to other objects can be one turn of the event loop. To be awaited between the steps of long work.
 */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
