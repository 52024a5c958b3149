/**
 * Lets what came from outside run: other requests of this isolate, and in a local service everybody's. A promise alone does not, as
 * the runtime looks for it only when no promise is left to go on with; a chain of calls to the database, to R2 or
 * to other objects is one go for it. To be awaited between the steps of long work.
 */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
