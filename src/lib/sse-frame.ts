/** One frame of an event stream. `json` must be JSON text, which never contains a raw line break. */
export function sseFrame({ id, event, json }: { id?: number; event: string; json: string }): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${json}\n\n`
}
