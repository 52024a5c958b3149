/** Lets other tasks of this isolate run. Long synchronous work must call it. */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
